import { engine, loadImage, raw, unique, waitFor } from '@crux/test-kit'
import { WebSocket } from 'ws'
import { expect, type TestSystem, test } from '../kit/test-system.ts'

const manyLines = 3_000
/** Several times as many lines as have to arrive, because a busy machine writes fewer. */
const flood = {
  cmd: [
    '/bin/sh',
    '-c',
    'trap \'exit 0\' TERM; echo ready; pad=$(printf "%0900d" 0); n=0; while :; do n=$((n+1)); seq $((n*3000)) $((n*3000+2999)) | awk -v pad=$pad \'{print "line " $1 " " pad}\'; sleep 0.05; done',
  ],
}
const togetherMs = 5_000
/** The time until the buffers on the way are full, plus the 5 s after which the server stops waiting and counts skipped lines. */
const apartMs = 16_000
/**
 * Lines of 0.9 kB that the slow reader does not read: 150 MB, which the server would keep without a limit. With one it keeps a few MB; the rest of
 * what is measured is garbage that V8 has not collected yet.
 */
const backlogLines = 160_000
const growthMaxMb = 75

test('with a container that writes as fast as it can and a browser that stops reading, memory stays bounded, other readers stay fast, and skipped lines are reported', async ({
  testSystem,
}) => {
  // A slow machine needs more than a minute for so many lines.
  test.setTimeout(240_000)
  const { testEnvironment } = testSystem
  await loadImage('e2e-flood:1', flood)
  const name = unique('flood')
  // A container of the team on this node, labeled like one of the agent, because the logs of others cannot be read.
  const Labels = { 'dev.crux.team': testEnvironment.teamId, 'dev.crux.node': testEnvironment.nodeId }
  const id = await raw.create(name, { Image: 'e2e-flood:1', Labels })
  await raw.start(id)
  const [slow, fast] = await Promise.all([followLog(testSystem, name), followLog(testSystem, name)])
  await waitFor('lines arrive at both', () => slow.read().lines > 1_000 && fast.read().lines > 1_000)

  // The rates without a slow reader are the baseline.
  const together = await observe(testSystem, fast, { ms: togetherMs })
  slow.socket.pause()
  const apart = await observe(testSystem, fast, { ms: apartMs, lines: backlogLines })
  const description = JSON.stringify({ together, apart })
  test.info().annotations.push({ type: 'both read, then one stopped', description })

  expect(apart.produced / together.produced, 'share of its lines that the container goes on writing').toBeGreaterThan(
    0.5,
  )
  expect(apart.retainedMb - together.retainedMb, 'growth of the server in MB').toBeLessThan(growthMaxMb)
  expect(apart.received / apart.produced, 'share of the lines that the other reader gets').toBeGreaterThan(
    0.7 * (together.received / together.produced),
  )
  expect(apart.answerMs, 'ms until the API answers').toBeLessThan(3 * together.answerMs + 50)

  const seen = slow.read()
  slow.socket.resume()
  await waitFor('lines go on', () => slow.read().lines > seen.lines + 1_000 && slow.read().skipped > seen.skipped)
  const caughtUp = slow.read().last
  await waitFor('it is where the other one is', () => slow.read().last > caughtUp + manyLines / 10)
  for (const reader of [slow, fast]) {
    const { first, last, lines, skipped } = reader.read()
    expect(last - first + 1, 'every line is there or counted as skipped').toBe(lines + skipped)
    reader.socket.close()
  }
  // At least the lines of these seconds that exceed the buffers on the way.
  expect(slow.read().skipped).toBeGreaterThan(manyLines)
  await raw.remove(id)
  await engine('DELETE', '/images/e2e-flood:1?force=true').catch(() => undefined)
})

type Reader = Awaited<ReturnType<typeof followLog>>

/** A live channel as a browser opens it, which follows the log and counts lines. */
async function followLog({ testEnvironment, system }: TestSystem, name: string) {
  const socket = new WebSocket(`${system.url.replace(/^http/, 'ws')}/api`, {
    headers: testEnvironment.user.headers(),
  })
  const path = `/${testEnvironment.teamSlug}/nodes/${testEnvironment.nodeId}`
  let lines = 0
  let skipped = 0
  let first = 0
  let last = 0
  let subscribed = false
  socket.on('message', (text) => {
    const { type, data } = JSON.parse(String(text))
    if (type === 'subbed') subscribed = true
    if (type !== `${path}/container-log-batch`) return
    skipped += data.skipped ?? 0
    for (const [, , text] of data.lines) {
      const number = Number(/^line (\d+)/.exec(text)?.[1])
      if (!number) continue
      first ||= number
      last = number
      lines++
    }
  })
  await new Promise((resolve) => socket.once('open', resolve))
  socket.send(JSON.stringify({ type: 'subscribe', data: { path } }))
  await waitFor('subscribed', () => subscribed)
  const container = { prefix: '', name }
  socket.send(JSON.stringify({ type: `${path}/watch-container-log`, data: { container, take: 100, batch: true } }))
  return { socket, read: () => ({ lines, skipped, first, last }) }
}

/** What the server uses on its heap and beside it, in MB. */
async function readMemory({ system }: TestSystem): Promise<number> {
  const metrics = await (await fetch(`${system.url}/metrics`)).text()
  const read = (name: string) => Number(new RegExp(`nodejs_${name}_bytes (\\d+)`).exec(metrics)?.[1])
  return (read('heap_size_used') + read('external_memory')) / 1_048_576
}

/** Observes a reader that keeps up, the API and the memory of the server for a time, and until the reader has got so many lines. */
async function observe(testSystem: TestSystem, reader: Reader, { ms, lines = 0 }: { ms: number; lines?: number }) {
  const { testEnvironment, system } = testSystem
  const begin = { at: performance.now(), ...reader.read() }
  const answers: number[] = []
  const memory: { at: number; mb: number }[] = []
  while (performance.now() - begin.at < ms || reader.read().lines - begin.lines < lines) {
    const asked = performance.now()
    const answer = await fetch(`${system.url}/api/${testEnvironment.teamSlug}/nodes`, {
      headers: testEnvironment.user.headers(),
    })
    await answer.arrayBuffer()
    expect(answer.status).toBe(200)
    answers.push(performance.now() - asked)
    memory.push({ at: asked, mb: await readMemory(testSystem) })
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const endAt = performance.now()
  const seconds = (endAt - begin.at) / 1_000
  const end = reader.read()
  return {
    produced: Math.round((end.last - begin.last) / seconds),
    received: Math.round((end.lines - begin.lines) / seconds),
    answerMs: Math.round(answers.toSorted((a, b) => a - b)[answers.length >> 1] ?? 0),
    // The lowest value is the one that follows a garbage collection; what a buffer takes without end is there at the end.
    retainedMb: Math.round(Math.min(...memory.flatMap(({ at, mb }) => (endAt - at <= togetherMs ? mb : [])))),
  }
}
