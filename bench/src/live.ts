import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { engine, idle, loadImage, raw, unique, waitFor } from '@crux/test-kit'
import { interleave, median, now, percentile, type Report } from './measure.ts'
import { followEvents, type TestSystem } from './test-system.ts'

/** Time from the engine event (its own time stamp) to the message in a browser's socket, over `docker stop` and `docker start`. */
export async function eventLatency(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  await loadImage('bench-events:1', idle())
  const name = unique('benchevents')
  const id = await raw.create(name, { Image: 'bench-events:1' })
  await raw.start(id)
  const { live, channel } = openNodeChannel(testSystem)
  const seen: { state: string; at: number }[] = []
  channel.on('containers-state-list', ({ containers }) => {
    const at = performance.timeOrigin + performance.now()
    const state = containers.find((one) => one.id.name === name)?.state
    if (state && seen.at(-1)?.state !== state) seen.push({ state, at })
  })
  channel.onReady(() => channel.send('watch-containers-state', {}))
  await waitFor('the first list', () => seen.length > 0)
  const events: { state: string; at: number }[] = []
  const stop = await followEvents((event) => {
    if (event.Type !== 'container' || event.Actor.Attributes.name !== name) return
    if (event.Action === 'die') events.push({ state: 'exited', at: event.timeNano / 1e6 })
    if (event.Action === 'start') events.push({ state: 'running', at: event.timeNano / 1e6 })
  })
  const delays: number[] = []
  for (let round = 0; round < rounds; round++) {
    for (const [state, act] of [
      ['exited', raw.stop],
      ['running', raw.start],
    ] as const) {
      const before = seen.length
      await act(id)
      const message = await waitFor(
        `the socket says ${state}`,
        () => seen.slice(before).find((one) => one.state === state),
        { everyMs: 2 },
      )
      const event = events.findLast((one) => one.state === state)
      if (event) delays.push(message.at - event.at)
    }
  }
  stop()
  live.close()
  await raw.remove(id)
  report.number(
    'engine event to the message in the socket, p95',
    percentile(delays, 95),
    'ms',
    '<= 60',
    `p50 ${median(delays).toFixed(1)} ms, ${delays.length} changes`,
  )
}

function openNodeChannel({ testEnvironment: { nodeId, user, teamSlug } }: TestSystem) {
  const live = user.live()
  return { live, channel: live.channel('node', { teamSlug, nodeId }) }
}

const lines = 200_000

/** A log of 200,000 lines through agent, server and WebSocket, against `docker logs -f`: lines per second. */
export async function followLog(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  await loadImage('bench-log:1', {
    cmd: [
      '/bin/sh',
      '-c',
      `trap 'seq 1 ${lines}' USR1; trap 'exit 0' TERM; echo ready; while :; do sleep 3600 & wait; done`,
    ],
  })
  let missing = 0
  let twice = 0
  let skipped = 0
  const sides = await interleave(rounds, {
    ours: async () => {
      const container = await startLogContainer(testSystem)
      const { live, channel } = openNodeChannel(testSystem)
      const got = new Uint8Array(lines + 1)
      let count = 0
      let first = 0
      let last = 0
      let started = false
      channel.on('container-log-batch', (batch) => {
        const at = now()
        skipped += batch.skipped ?? 0
        for (const [, , text] of batch.lines) {
          // The first line shows that the log is being followed.
          if (text === 'ready') started = true
          const number = Number(text)
          if (!(number >= 1 && number <= lines)) continue
          if (got[number]) twice++
          else count++
          got[number] = 1
          first ||= at
          last = at
        }
      })
      channel.onReady(() =>
        channel.send('watch-container-log', {
          container: { prefix: '', name: container.name },
          take: 100,
          batch: true,
        }),
      )
      await waitFor('the log is followed', () => started)
      await container.write()
      await waitFor('all lines', () => count >= lines, { timeoutMs: 60_000, everyMs: 5 }).catch(() => {
        missing += lines - count
      })
      live.close()
      await raw.remove(container.id)
      return count / ((last - first) / 1_000)
    },
    theirs: async () => dockerLogs(await startLogContainer(testSystem)),
  })
  report.ratio(
    'following a log of 200,000 lines / docker logs -f',
    sides,
    '>= 0.7',
    'lines/s',
    `missing ${missing} (said: ${skipped}), twice ${twice}`,
  )
}

/** A container that the agent counts as one of the team's. */
async function startLabelled({ testEnvironment }: TestSystem, image: string): Promise<{ name: string; id: string }> {
  const name = unique('benchlog')
  const Labels = { 'dev.crux.team': testEnvironment.teamId, 'dev.crux.node': testEnvironment.nodeId }
  const id = await raw.create(name, { Image: image, Labels })
  await raw.start(id)
  return { name, id }
}

/** A container that writes all lines when `write` is called. */
async function startLogContainer(testSystem: TestSystem) {
  const { name, id } = await startLabelled(testSystem, 'bench-log:1')
  await waitFor('it is ready', async () =>
    (await engine<string>('GET', `/containers/${id}/logs?stdout=true`)).includes('ready'),
  )
  return { name, id, write: () => engine('POST', `/containers/${id}/kill?signal=USR1`) }
}

/** @returns the lines per second of `docker logs -f` */
async function dockerLogs(container: Awaited<ReturnType<typeof startLogContainer>>): Promise<number> {
  const child = spawn('docker', ['logs', '-f', '--timestamps', container.name], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  let count = 0
  let first = 0
  let last = 0
  child.stdout.on('data', (part: Buffer) => {
    const found = newlines(part)
    if (found === 0) return
    count += found
    last = now()
    if (count > 1) first ||= last
  })
  await waitFor('the first line', () => count >= 1)
  await container.write()
  await waitFor('all lines', () => count >= lines + 1, { timeoutMs: 60_000, everyMs: 5 })
  child.kill()
  await raw.remove(container.id)
  return lines / ((last - first) / 1_000)
}

/** The whole log of a container as a file, against `docker logs --timestamps`: lines per second. */
export async function downloadLog(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { system, testEnvironment } = testSystem
  await loadImage('bench-log-download:1', {
    cmd: ['/bin/sh', '-c', `seq 1 ${lines}; touch /tmp/done; trap 'exit 0' TERM; while :; do sleep 3600 & wait; done`],
  })
  const { name, id } = await startLabelled(testSystem, 'bench-log-download:1')
  const byEngine = async () => {
    const child = spawn('docker', ['logs', '--timestamps', name], { stdio: ['ignore', 'pipe', 'ignore'] })
    let count = 0
    child.stdout.on('data', (part: Buffer) => {
      count += newlines(part)
    })
    await once(child, 'close')
    return count
  }
  await waitFor('the log is written', async () => (await byEngine()) === lines, { timeoutMs: 60_000 })
  const path = `/api/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}/_/containers/${name}/log/download`
  try {
    const sides = await interleave(rounds, {
      ours: async () => {
        const begun = now()
        const answer = await fetch(`${system.url}${path}`, { headers: testEnvironment.user.headers() })
        let count = 0
        for await (const part of answer.body ?? []) count += newlines(part)
        if (count !== lines) throw new Error(`${count} of ${lines} lines were downloaded`)
        return count / ((now() - begun) / 1_000)
      },
      theirs: async () => {
        const begun = now()
        return (await byEngine()) / ((now() - begun) / 1_000)
      },
    })
    report.ratio('whole log as a download / docker logs', sides, '>= 1', 'lines/s', `${lines} lines`)
  } finally {
    await raw.remove(id)
  }
}

function newlines(part: Uint8Array): number {
  let count = 0
  for (let at = part.indexOf(10); at >= 0; at = part.indexOf(10, at + 1)) count++
  return count
}
