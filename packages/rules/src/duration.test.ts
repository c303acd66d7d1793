import { expect, it } from 'vitest'
import { formatDuration, releaseDurationMs } from './duration.ts'

it('formatDuration renders durations with a fitting unit', () => {
  expect([40, 6_200, 64_000, 120_000].map(formatDuration)).toEqual(['40 ms', '6.2 s', '1 min 4 s', '2 min'])
})

it('releaseDurationMs counts from when the agent received the release, and returns none while the release is in progress', () => {
  const startedAt = '2026-01-01T10:00:00.000Z'
  const finishedAt = '2026-01-01T10:00:09.000Z'
  expect(releaseDurationMs({ startedAt })).toBe(null)
  expect(releaseDurationMs({ startedAt, finishedAt })).toBe(9_000)
  expect(releaseDurationMs({ startedAt, dispatchedAt: '2026-01-01T10:00:05.000Z', finishedAt })).toBe(4_000)
})
