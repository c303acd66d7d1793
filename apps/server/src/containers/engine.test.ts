import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadImage } from '@crux/test-kit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { engineAnswers } from '../nodes/local-agent-process.ts'

/** The real agent, a real engine, a real socket: from the engine's event to the message in the browser. */
const withEngine = test.skipIf(!(await engineAnswers()))
const run = promisify(execFile)
const name = `crux-live-${randomBytes(4).toString('hex')}`
const lines = 20_000
let server: TestServer
let dataDir: string
let params: { teamSlug: string; nodeId: string }
/** Options of `docker run`: a container of the team on the node, as the agent would create it. */
let owned: string[]
let live: ReturnType<TestServer['live']>
let admin: ReturnType<TestServer['signUp']>

beforeAll(async () => {
  if (!(await engineAnswers())) return
  dataDir = mkdtempSync(join(tmpdir(), 'crux-engine-'))
  await loadImage(`${name}:1`, {})
  server = await startTestServer({ config: { dataDir } })
  admin = server.signUp()
  const team = await server.createTeam(admin)
  const client = server.client(admin)
  const { id } = await client.call('nodes.create', { params: { teamSlug: team.slug }, body: { name: 'engine' } })
  params = { teamSlug: team.slug, nodeId: id }
  owned = ['--label', `dev.crux.team=${team.id}`, '--label', `dev.crux.node=${id}`]
  await client.call('nodes.start-local-agent', { params })
  await until(async () => (await client.call('nodes.get', { params })).status === 'connected', 30_000)
  live = server.live(admin)
})

afterAll(async () => {
  await run('docker', ['rm', '-f', name, `${name}-log`]).catch(() => undefined)
  await run('docker', ['rmi', '-f', `${name}:1`]).catch(() => undefined)
  await server?.stop()
  if (dataDir) rmSync(dataDir, { recursive: true, force: true })
})

/** The times of the engine's events of the container, in milliseconds. */
function engineEvents(heard: (action: string, at: number) => void) {
  const filters = encodeURIComponent(JSON.stringify({ container: [name] }))
  const asked = request({ socketPath: '/var/run/docker.sock', path: `/events?filters=${filters}` }, (response) => {
    response.setEncoding('utf8').on('data', (text: string) => {
      for (const line of text.split('\n').filter(Boolean)) {
        const event = JSON.parse(line) as { Action: string; timeNano: number }
        heard(event.Action, event.timeNano / 1_000_000)
      }
    })
  })
  asked.on('error', () => undefined)
  asked.end()
  return () => asked.destroy()
}

withEngine(
  'a container that starts and stops is shown at once',
  async () => {
    const channel = live.channel('node', params)
    const seen: { state: string | null | undefined; at: number }[] = []
    channel.on('containers-state-list', ({ containers }) => {
      const mine = containers.find(({ id }) => id.name === name)
      if (mine) seen.push({ state: mine.state, at: performance.timeOrigin + performance.now() })
    })
    channel.onReady(() => channel.send('watch-containers-state', {}))
    const happened: { action: string; at: number }[] = []
    const stop = engineEvents((action, at) => happened.push({ action, at }))
    await run('docker', ['run', '-d', '--name', name, ...owned, `${name}:1`, 'sleep', '1000'])
    await until(() => seen.at(-1)?.state === 'running')
    const delays: number[] = []
    const follow = async (command: string[], action: string, state: string) => {
      const before = seen.length
      await run('docker', [...command, name])
      const event = await until(() => happened.find((event) => event.action === action && !used.has(event)))
      used.add(event)
      const shown = await until(() => seen.slice(before).find((entry) => entry.state === state))
      delays.push(shown.at - event.at)
    }
    const used = new Set<unknown>(happened.filter(({ action }) => action === 'start'))
    for (let round = 0; round < 3; round++) {
      await follow(['kill'], 'die', 'exited')
      await follow(['start'], 'start', 'running')
    }
    stop()
    channel.close()
    const sorted = delays.toSorted((one, other) => one - other)
    // The limit is generous, because machines that run tests are busy; the bench measures the target.
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(1_000)
  },
  60_000,
)

withEngine(
  'a long log arrives completely and in order, without repeated lines',
  async () => {
    // It waits for a file before it writes, so that all of its output is followed and none of it is part of `take`.
    const script = `echo 0; while [ ! -e /go ]; do sleep 0.1; done; seq 1 ${lines}; sleep 1000`
    await run('docker', ['run', '-d', '--name', `${name}-log`, ...owned, `${name}:1`, 'sh', '-c', script])
    const channel = live.channel('node', params)
    const container = { prefix: '', name: `${name}-log` }
    let next = 0
    let wrong: string | undefined
    const started = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    channel.on('container-log-batch', (batch) => {
      for (const [, , text] of batch.lines) if (Number(text) !== next++) wrong ??= `${text} instead of ${next - 1}`
      if (batch.skipped) wrong ??= `${batch.skipped} skipped`
      started.resolve()
      if (next > lines || wrong) done.resolve()
    })
    channel.onReady(() => channel.send('watch-container-log', { container, take: 10, batch: true }))
    await started.promise
    await run('docker', ['exec', `${name}-log`, 'sh', '-c', ': >/go'])
    await done.promise
    expect(wrong).toBeUndefined()
    expect(next - 1).toBe(lines)
    channel.close()
  },
  60_000,
)

withEngine(
  'the whole log is downloaded and followed from its first line, and hidden from other teams',
  async () => {
    const container = `${name}-log`
    await run('docker', ['rm', '-f', container]).catch(() => undefined)
    const script = `seq 1 ${lines}; echo to stderr >&2; sleep 1000`
    await run('docker', ['run', '-d', '--name', container, ...owned, `${name}:1`, 'sh', '-c', script])
    await until(async () => {
      const { stdout, stderr } = await run('docker', ['logs', container])
      return stdout.split('\n').length > lines && stderr.includes('to stderr')
    })
    const path = `/api/${params.teamSlug}/nodes/${params.nodeId}/_/containers/${container}/log/download`
    const answer = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${admin.token}` } })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('content-type')).toBe('text/plain; charset=utf-8')
    expect(answer.headers.get('content-disposition')).toBe(`attachment; filename="${container}.log"`)
    const read = (await answer.text()).split('\n')
    expect(read.pop()).toBe('')
    const wanted = [...Array.from({ length: lines }, (_, index) => String(index + 1)), 'to stderr']
    expect(read.map((line) => line.slice(line.indexOf(' ') + 1)).sort()).toEqual(wanted.sort())
    // The engine reads the two streams side by side: under load it may store the line of stderr first.
    expect(read.find((line) => !line.endsWith('to stderr'))).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{9}Z 1$/)

    // A subscriber that follows the log gets all lines too.
    const channel = live.channel('node', params)
    const followed: string[] = []
    channel.on('container-log-batch', (batch) => void followed.push(...batch.lines.map(([, , text]) => text)))
    channel.onReady(() =>
      channel.send('watch-container-log', { container: { prefix: '', name: container }, take: 100_000, batch: true }),
    )
    await until(() => followed.length > lines)
    channel.close()
    expect(followed.toSorted()).toEqual(wanted.toSorted())

    const stranger = server.signUp()
    const other = await server.createTeam(stranger)
    const asStranger = (slug: string) =>
      fetch(`${server.url}${path.replace(params.teamSlug, slug)}`, {
        headers: { authorization: `Bearer ${stranger.token}` },
      })
    expect((await asStranger(params.teamSlug)).status).toBe(403)
    expect((await asStranger(other.slug)).status).toBe(404)
    const missing = await fetch(`${server.url}${path.replace(container, 'nobody')}`, {
      headers: { authorization: `Bearer ${admin.token}` },
    })
    expect(missing.status).toBe(404)
    expect(await missing.json()).toMatchObject({ error: 'notFound' })
  },
  60_000,
)
