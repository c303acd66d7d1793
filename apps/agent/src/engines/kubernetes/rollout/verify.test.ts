import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { EngineError } from '../../../errors.ts'
import type { LogChunkLine } from '../../engine.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { readLastLines } from './verify.ts'

type ReadLog = Cluster['readLog']

const failed = { pod: 'web-1', container: 'web', previousFirst: true }
const toChunk = (text: string): LogChunkLine[] => [{ text, seconds: 0n, nanos: 0, stderr: false }]

test('the last lines are those of the container before its restart, or of the one that runs when these are gone', async () => {
  const readLog: ReadLog = async function* ({ previous }) {
    yield toChunk(previous ? 'before' : 'after')
  }
  const { signal } = new AbortController()
  expect(await readLastLines({ readLog }, 'demo', failed, signal)).toEqual(['before'])
  const readGone: ReadLog = async function* ({ previous }) {
    if (previous) throw new EngineError('not-found', 'the log is gone')
    yield toChunk('after')
  }
  expect(await readLastLines({ readLog: readGone }, 'demo', failed, signal)).toEqual(['after'])
})

test.each([true, false])('the last lines are found when a restart moves them meanwhile (%s)', async (previousFirst) => {
  const asked: boolean[] = []
  const readLog: ReadLog = async function* ({ previous = false }) {
    asked.push(previous)
    if (!previous) return
    if (!asked.includes(false)) throw new EngineError('not-found', 'it was not restarted yet')
    yield toChunk('the last words')
  }
  const { signal } = new AbortController()
  expect(await readLastLines({ readLog }, 'demo', { ...failed, previousFirst }, signal)).toEqual(['the last words'])
  expect(asked.slice(-2)).toEqual([false, true])
})

test.each([
  ['nothing', [], []],
  ['no more than a few', ['first', 'second'], ['first', 'second']],
])(
  'a cluster that answers %s of the last lines and hangs is waited for until the signal aborts',
  async (_, sent, lines) => {
    const ending = new AbortController()
    const signals: (AbortSignal | undefined)[] = []
    const readLog: ReadLog = async function* (_pod, { signal }) {
      signals.push(signal)
      for (const text of sent) yield toChunk(text)
      await new Promise(() => undefined)
    }
    const reading = readLastLines({ readLog }, 'demo', { ...failed, previousFirst: false }, ending.signal)
    await nextTurn()
    ending.abort()
    expect(await reading).toEqual(lines)
    expect(signals).toEqual([ending.signal])
  },
)
