import { readFileSync } from 'node:fs'
import { engine, loadImage, raw, unique, waitFor } from '@crux/test-kit'
import { WebSocket } from 'ws'
import { expect, test } from '../kit/stage.ts'

const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024

test('10,000 lines per second into a browser that stops reading: memory stays bounded, and what is skipped is said', async ({
  stage,
}) => {
  const { world, system } = stage
  await loadImage('e2e-flood:1', {
    cmd: [
      '/bin/sh',
      '-c',
      'trap \'exit 0\' TERM; echo ready; n=0; while :; do n=$((n+1)); seq $((n*1000)) $((n*1000+999)) | while read x; do echo "line $x ................................................................................"; done; sleep 0.05; done',
    ],
  })
  const name = unique('flood')
  // A container of the team on this node, as the agent would make it: others are not read.
  const Labels = { 'dev.crux.team': world.teamId, 'dev.crux.node': world.nodeId }
  const id = await raw.create(name, { Image: 'e2e-flood:1', Labels })
  await raw.start(id)
  const socket = new WebSocket(`${system.url.replace(/^http/, 'ws')}/api`, { headers: world.person.headers() })
  const path = `/${world.teamSlug}/nodes/${world.nodeId}`
  let lines = 0
  let skipped = 0
  let numbered = 0
  let first: number | undefined
  let last = 0
  let subscribed = false
  socket.on('message', (text) => {
    const { type, data } = JSON.parse(String(text))
    if (type === 'subbed') subscribed = true
    if (type === `${path}/container-log-batch`) {
      lines += data.lines.length
      skipped += data.skipped ?? 0
      for (const [, , text] of data.lines) {
        const number = Number(/^line (\d+)/.exec(text)?.[1])
        if (!number) continue
        first ??= number
        last = number
        numbered++
      }
    }
  })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'subscribe', data: { path } }))
  await waitFor('subscribed', () => subscribed)
  socket.send(
    JSON.stringify({
      type: `${path}/watch-container-log`,
      data: { container: { prefix: '', name }, take: 100, batch: true },
    }),
  )
  await waitFor('lines arrive', () => lines > 1_000)
  const before = rssMb(system.pid('server') ?? 0)
  socket.pause()
  const until = Date.now() + 8_000
  let most = 0
  await waitFor(
    '8 s without reading',
    () => {
      most = Math.max(most, rssMb(system.pid('server') ?? 0))
      return Date.now() > until
    },
    { everyMs: 200 },
  )
  expect(most - before, 'growth of the server in MB').toBeLessThan(64)
  // Another person's page answers meanwhile.
  expect((await fetch(`${system.url}/api/${world.teamSlug}/nodes`, { headers: world.person.headers() })).status).toBe(
    200,
  )
  const seen = lines
  socket.resume()
  await waitFor('lines go on', () => lines > seen + 1_000)
  expect(last - (first ?? 0) + 1, 'every line is there or counted as skipped').toBe(numbered + skipped)
  socket.close()
  await raw.remove(id)
  await engine('DELETE', '/images/e2e-flood:1?force=true').catch(() => undefined)
})
