import { expect, test } from 'vitest'
import { toRunBars } from './run-bars.ts'
import type { Run } from './run-queries.ts'

const at = (seconds: number) => new Date(seconds * 1_000).toISOString()
const run = (id: string, status: Run['status'], startedAt: number, finishedAt?: number): Run => ({
  id,
  status,
  startedAt: at(startedAt),
  finishedAt: finishedAt === undefined ? null : at(finishedAt),
})

test('bars are oldest first and scaled by the longest run', () => {
  const bars = toRunBars([run('new', 'failed', 100, 110), run('old', 'successful', 0, 40)], 200_000)
  expect(bars.map(({ run: { id }, durationMs, share }) => [id, durationMs, share])).toEqual([
    ['old', 40_000, 1],
    ['new', 10_000, 0.25],
  ])
})

test('an active run grows with the time, and a run that never reported has no duration', () => {
  const runs = [run('active', 'running', 100), run('lost', 'unknown', 0)]
  expect(toRunBars(runs, 130_000).map(({ durationMs }) => durationMs)).toEqual([0, 30_000])
  expect(toRunBars(runs, 160_000).map(({ durationMs }) => durationMs)).toEqual([0, 60_000])
})

test('a run that hangs fills its bar and leaves the scale to the finished ones', () => {
  const runs = [run('hangs', 'running', 100), run('long', 'successful', 50, 90), run('short', 'successful', 0, 10)]
  expect(toRunBars(runs, 10_000_000).map(({ share }) => share)).toEqual([0.25, 1, 1])
})

test('a run that ended before it began, by another clock, took no time', () => {
  expect(toRunBars([run('skewed', 'successful', 10, 9)], 0)).toMatchObject([{ durationMs: 0, share: 0 }])
})
