import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ownerLabels } from '../src/engines/labels.ts'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
let image: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  image = (await testEnvironment.publish('web:1', webImage('one'))).reference
})
afterAll(() => testEnvironment.dispose())

async function run(name: string, script: string, more: { Tty?: boolean } = {}): Promise<void> {
  const container = await testEnvironment.docker.createContainer({
    name: testEnvironment.name(name),
    Image: image,
    Cmd: ['/bin/sh', '-c', script],
    Labels: ownerLabels(testEnvironment.owner),
    ...more,
  })
  await container.start()
}
const full = (name: string) => ({ prefix: '', name: testEnvironment.name(name) })
function follow(name: string, take = 1_000, since?: { seconds: bigint; nanos: number }) {
  const streamId = `log-${name}-${Math.random()}`
  testEnvironment.server.send({
    case: 'followLog',
    value: { streamId, container: full(name), take, ...(since && { since }) },
  })
  return { streamId, texts: () => (testEnvironment.server.logLines.get(streamId) ?? []).map(({ text }) => text) }
}

describe('reading a log', () => {
  test('returns the last lines with their time and stream', async () => {
    await run('short', 'for i in 1 2 3 4 5; do echo line $i; done; sleep 0.2; echo trouble >&2')
    await testEnvironment.docker.getContainer(testEnvironment.name('short')).wait()
    const answer = await testEnvironment.server.ask({ case: 'readLog', value: { container: full('short'), take: 3 } })
    const lines = answer.case === 'log' ? answer.value.lines : []
    expect(lines.map(({ text, stderr }) => [text, stderr])).toEqual([
      ['line 4', false],
      ['line 5', false],
      ['trouble', true],
    ])
    const age = Date.now() / 1_000 - Number(lines[0]?.at?.seconds)
    expect(age).toBeGreaterThanOrEqual(0)
    expect(age).toBeLessThan(60)
    expect(lines[0]?.at?.nanos).toBeGreaterThan(0)
  })

  test('parses the output of a terminal and lines that Docker cuts in pieces', async () => {
    await run('tty', 'echo one; echo two', { Tty: true })
    await run(
      'long',
      'head -c 40000 /dev/zero | tr "\\000" x 2>/dev/null || awk "BEGIN{for(i=0;i<40000;i++)printf \\"x\\"}"; echo; echo after',
    )
    await Promise.all(
      ['tty', 'long'].map((name) => testEnvironment.docker.getContainer(testEnvironment.name(name)).wait()),
    )
    const texts = async (name: string) => {
      const answer = await testEnvironment.server.ask({ case: 'readLog', value: { container: full(name), take: 10 } })
      return answer.case === 'log' ? answer.value.lines.map(({ text }) => text) : []
    }
    expect(await texts('tty')).toEqual(['one', 'two'])
    const long = await texts('long')
    expect(long.at(-1)).toBe('after')
    expect(long.at(-2)).toBe('x'.repeat(40_000))
  })
})

describe('following a log', () => {
  test('reports a missing container as a failure of the stream', async () => {
    const { streamId } = follow('nobody')
    expect(await waitUntil('the failure', () => testEnvironment.server.logFailures.get(streamId))).toContain(
      'There is no container',
    )
  })

  test('continues when the container restarts with no line missing and none repeated', async () => {
    await run(
      'again',
      'date +%s%N >> /tmp/n; n=$(awk "END{print NR}" /tmp/n); echo start $n; for i in 1 2 3; do echo $n.$i; done',
    )
    const { texts } = follow('again')
    const container = testEnvironment.docker.getContainer(testEnvironment.name('again'))
    for (let round = 2; round <= 4; round += 1) {
      await waitUntil(`round ${round - 1}`, () => texts().includes(`${round - 1}.3`))
      await container.wait()
      await container.start()
    }
    await waitUntil('the last round', () => texts().includes('4.3'))
    expect(texts()).toEqual(
      [1, 2, 3, 4].flatMap((round) => [`start ${round}`, `${round}.1`, `${round}.2`, `${round}.3`]),
    )
  })

  test('follows the name to the container that replaces it', async () => {
    const deploy = async (value: string) =>
      expect(
        await testEnvironment.server.deployAndWait(
          testEnvironment.release({
            instances: [
              {
                instanceId: 'talker',
                image,
                config: {
                  name: 'talker',
                  commands: [{ key: '/bin/sh' }, { key: '-c' }],
                  args: [{ key: `trap 'exit 0' TERM; echo hello ${value}; while true; do sleep 0.1; done` }],
                },
              },
            ],
          }),
        ),
      ).toMatchObject({ successful: true })
    await deploy('one')
    const streamId = 'talker'
    testEnvironment.server.send({
      case: 'followLog',
      value: { streamId, container: { prefix: testEnvironment.owner.prefix, name: 'talker' }, take: 100 },
    })
    const texts = () => (testEnvironment.server.logLines.get(streamId) ?? []).map(({ text }) => text)
    await waitUntil('the first', () => texts().includes('hello one'))
    await deploy('two')
    await waitUntil('the second', () => texts().includes('hello two'))
    expect(texts()).toEqual(['hello one', 'hello two'])
  })

  test('continues after a given line with all that followed, however many, and repeats none', async () => {
    await run(
      'gap',
      "trap 'exit 0' TERM; seq 1 500; while ! test -e /tmp/go; do sleep 0.1; done; seq 501 3000; while true; do sleep 0.1; done",
    )
    const last = async () => {
      const answer = await testEnvironment.server.ask({ case: 'readLog', value: { container: full('gap'), take: 1 } })
      return answer.case === 'log' ? answer.value.lines[0] : undefined
    }
    const seen = await waitUntil('the line before the gap', async () => {
      const line = await last()
      return line?.text === '500' ? line : undefined
    })
    await testEnvironment.exec('gap', ['/bin/touch', '/tmp/go'])
    await waitUntil('the line after it', async () => (await last())?.text === '3000')
    const { texts } = follow('gap', 10, { seconds: seen.at?.seconds ?? 0n, nanos: seen.at?.nanos ?? 0 })
    await waitUntil('the last line', () => texts().at(-1) === '3000')
    expect(texts()).toEqual(Array.from({ length: 2_500 }, (_, index) => String(index + 501)))
  })

  test('delivers 200,000 lines without losing or repeating one', async () => {
    await run('many', 'sleep 0.5; seq 1 200000')
    const { streamId } = follow('many', 1_000)
    const lines = () => testEnvironment.server.logLines.get(streamId) ?? []
    await waitUntil('the last line', () => lines().at(-1)?.text === '200000', 40_000)
    expect(lines().map(({ text }) => Number(text))).toEqual(Array.from({ length: 200_000 }, (_, index) => index + 1))
  })
})
