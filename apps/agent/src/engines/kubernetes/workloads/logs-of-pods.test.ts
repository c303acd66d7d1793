import { create } from '@bufbuild/protobuf'
import { ContainerSchema } from '@crux/agent-protocol'
import { describe, expect, test } from 'vitest'
import { EngineError } from '../../../errors.ts'
import type { LogChunkLine, LogRequest } from '../../engine.ts'
import type { PodRecord } from './records.ts'
import { readWorkloadLog } from './workload-log.ts'

const toPod = (name: string): PodRecord => ({
  ...{ uid: name, name, namespace: 'demo', resourceVersion: '1', createdAt: 0, owner: undefined, container: 'web' },
  ...{ image: '', machine: '', isEnding: false, isReady: true, state: 'running', reason: '', exitCode: undefined },
  ...{ restarts: 0, startedAt: 0, requests: undefined },
})
type ReadLog = (pod: string, request: LogRequest) => AsyncGenerator<LogChunkLine[]>
const toLine = (seconds: number, text: string): LogChunkLine => ({
  seconds: BigInt(seconds),
  nanos: 0,
  stderr: false,
  text,
})
const unavailable = (reason: string) => new EngineError('unavailable', reason)

function read(names: readonly string[], readLog: ReadLog, request: Partial<LogRequest> = {}) {
  const watch = {
    listPods: () => names.map(toPod),
    row: async () => create(ContainerSchema),
    workload: () => undefined,
    subscribe: () => () => undefined,
  }
  return readWorkloadLog(
    {
      cluster: { readLog: ({ name }, given) => readLog(name, given) },
      watch,
      id: 'web',
      redactor: { include: async () => undefined, redact: (lines) => lines },
      firstLinesMs: 20,
    },
    { take: 10, follow: false, ...request },
  )
}

async function collect(log: AsyncIterable<LogChunkLine[]>): Promise<string[]> {
  const texts: string[] = []
  for await (const lines of log) texts.push(...lines.map(({ text }) => text))
  return texts
}

describe('the logs of several pods', () => {
  test('are shown without the one of a machine that does not answer, and with a line that names its pod', async () => {
    const log = read(['lost', 'well'], async function* (pod) {
      if (pod === 'lost') throw unavailable('The machine of the Pod lost does not answer')
      yield [toLine(1, 'hello')]
    })
    expect(await collect(log)).toEqual([
      'well hello',
      'The log of the pod lost cannot be read: The machine of the Pod lost does not answer',
    ])
  })

  test('are shown as far as they were read when a machine stops answering', async () => {
    const log = read(['breaking', 'well'], async function* (pod) {
      yield [toLine(1, 'one')]
      if (pod === 'breaking') throw unavailable('gone')
      yield [toLine(2, 'two')]
    })
    expect(await collect(log)).toEqual([
      'breaking one',
      'well one',
      'well two',
      'The log of the pod breaking cannot be read: gone',
    ])
  })

  test('do not wait for one that does not come, and end its request', async () => {
    let isEnded = false
    const log = read(['slow', 'well'], async function* (pod, { signal }) {
      if (pod === 'well') return yield [toLine(1, 'hello')]
      await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      isEnded = true
    })
    expect(await collect(log)).toEqual([
      'well hello',
      'The log of the pod slow cannot be read: nothing has arrived within 0.02 s',
    ])
    expect(isEnded).toBe(true)
  })

  test('are an error when none of them can be read', async () => {
    const log = read(['one', 'two'], async function* (pod) {
      yield* []
      throw new EngineError('refused', `no right to read ${pod}`)
    })
    await expect(collect(log)).rejects.toThrow(/no right to read/)
  })

  test('are followed while a machine does not answer, and its lines come when it does', async () => {
    const ending = new AbortController()
    let attempts = 0
    const log = read(
      ['lost', 'well'],
      async function* (pod, { follow, signal }) {
        if (pod === 'lost') {
          attempts += 1
          if (attempts < 3) throw unavailable('gone')
          yield [toLine(5, 'back')]
        } else if (!follow) return yield [toLine(1, 'hello')]
        await new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve()))
      },
      { follow: true, signal: ending.signal },
    )
    const texts: string[] = []
    for await (const lines of log) {
      texts.push(...lines.map(({ text }) => text))
      if (texts.includes('lost back')) ending.abort()
    }
    expect(texts).toEqual(['well hello', 'The log of the pod lost cannot be read: gone', 'lost back'])
  })
})
