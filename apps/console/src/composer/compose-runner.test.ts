import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ComposeInput, ComposeResult } from './compose-result.ts'
import { createComposeRunner, type WorkerListener, type WorkerRequest } from './compose-runner.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const input = (text: string): ComposeInput => ({
  files: [{ name: 'compose.yaml', text }],
  envFiles: [],
  registries: [],
})
const result = (host: string): ComposeResult => ({
  services: [],
  failedServices: [],
  problems: [],
  notKept: [],
  missingHosts: [host],
})

/** Workers whose responses the test sends. */
function makeRunner() {
  const workers: { listener: WorkerListener; requests: WorkerRequest[]; isTerminated: boolean }[] = []
  const results: string[] = []
  const statuses: string[] = []
  const runner = createComposeRunner({
    createWorker(listener) {
      const worker = { listener, requests: [] as WorkerRequest[], isTerminated: false }
      workers.push(worker)
      return {
        post: (request) => void worker.requests.push(request),
        terminate: () => {
          worker.isTerminated = true
        },
      }
    },
    onResult: ({ missingHosts }) => void results.push(missingHosts.join()),
    onStatus: (status) => void statuses.push(status),
  })
  const texts = () => workers.flatMap(({ requests }) => requests.map((request) => request.input.files[0]?.text))
  const respond = (host: string) => {
    const worker = workers.at(-1)
    worker?.listener.onResponse({ id: worker.requests.at(-1)?.id ?? 0, result: result(host) })
  }
  return { runner, workers, results, statuses, texts, respond }
}

test('waits for a pause in typing and sends only the last text', () => {
  const { runner, texts, respond, results, statuses } = makeRunner()
  runner.update(input('a'))
  runner.update(input('ab'))
  vi.advanceTimersByTime(100)
  expect(texts()).toEqual(['ab'])
  respond('first')
  expect(results).toEqual(['first'])
  expect(statuses).toEqual(['ready'])
})

test('drops the result of a text that has changed since, and computes the newest one next', () => {
  const { runner, texts, respond, results } = makeRunner()
  runner.update(input('old'))
  vi.advanceTimersByTime(100)
  runner.update(input('newer'))
  runner.update(input('newest'))
  vi.advanceTimersByTime(100)
  expect(texts()).toEqual(['old'])
  respond('of old')
  expect(texts()).toEqual(['old', 'newest'])
  respond('of newest')
  expect(results).toEqual(['of newest'])
})

test('says that it reads only when it takes longer than 150 ms', () => {
  const { runner, statuses, respond } = makeRunner()
  runner.update(input('quick'))
  vi.advanceTimersByTime(160)
  respond('quick')
  expect(statuses).toEqual(['ready'])
  runner.update(input('slow'))
  vi.advanceTimersByTime(300)
  respond('slow')
  expect(statuses).toEqual(['ready', 'slow', 'ready'])
})

test('terminates a worker that hangs, says so, and starts another one for the next text', () => {
  const { runner, workers, statuses, respond, results } = makeRunner()
  runner.update(input('hangs'))
  vi.advanceTimersByTime(10_000)
  expect(workers[0]?.isTerminated).toBe(true)
  expect(statuses).toEqual(['slow', 'stopped'])
  runner.update(input('fine'))
  vi.advanceTimersByTime(100)
  expect(workers).toHaveLength(2)
  respond('fine')
  expect(results).toEqual(['fine'])
  expect(statuses.at(-1)).toBe('ready')
})

test('reads the text that was typed while the worker hung', () => {
  const { runner, workers, texts } = makeRunner()
  runner.update(input('hangs'))
  vi.advanceTimersByTime(1_000)
  runner.update(input('next'))
  vi.advanceTimersByTime(10_000)
  expect(workers[0]?.isTerminated).toBe(true)
  expect(texts().slice(0, 2)).toEqual(['hangs', 'next'])
})

test('says that reading failed when the worker fails, and recovers with the next text', () => {
  const { runner, workers, statuses, respond, results } = makeRunner()
  runner.update(input('a'))
  vi.advanceTimersByTime(100)
  workers[0]?.listener.onError()
  expect(statuses).toEqual(['failed'])
  expect(workers[0]?.isTerminated).toBe(true)
  runner.update(input('b'))
  vi.advanceTimersByTime(100)
  respond('b')
  expect(results).toEqual(['b'])
})

test('ends its worker and its timers when it is closed', () => {
  const { runner, workers, statuses } = makeRunner()
  runner.update(input('a'))
  vi.advanceTimersByTime(100)
  runner.update(input('b'))
  runner.close()
  vi.advanceTimersByTime(20_000)
  expect(workers.map(({ isTerminated, requests }) => [isTerminated, requests.length])).toEqual([[true, 1]])
  expect(statuses).toEqual([])
})
