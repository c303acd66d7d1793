import { expect, it } from 'vitest'
import { formatDuration, releaseDurationMs } from './duration.ts'

it('says durations with the unit that fits', () => {
  expect([40, 6_200, 64_000, 120_000].map(formatDuration)).toEqual(['40 ms', '6.2 s', '1 min 4 s', '2 min'])
})

it('counts the time of a release from when the agent got it, and none of one that goes on', () => {
  const startedAt = '2026-01-01T10:00:00.000Z'
  const finishedAt = '2026-01-01T10:00:09.000Z'
  expect(releaseDurationMs({ startedAt })).toBe(null)
  expect(releaseDurationMs({ startedAt, finishedAt })).toBe(9_000)
  expect(releaseDurationMs({ startedAt, dispatchedAt: '2026-01-01T10:00:05.000Z', finishedAt })).toBe(4_000)
})
