import { describe, expect, it } from 'vitest'
import { absoluteTime, duration, relativeTime } from './relative-time.ts'

const second = 1000
const minute = 60 * second
const hour = 60 * minute

describe('relative times', () => {
  it.each([
    [0, 'now'],
    [42 * second, '42 s'],
    [14 * minute + 59 * second, '14 min'],
    [2 * hour + 5 * minute, '2 h 5 min'],
    [9 * hour + 5 * minute, '9 h'],
    [50 * hour, '2 d 2 h'],
    [12 * 24 * hour, '12 d'],
  ])('says %i ms as "%s"', (ago, text) => {
    expect(relativeTime(1_000_000, 1_000_000 + ago)).toBe(text)
  })

  it('never shows a future time when clocks differ', () => {
    expect(relativeTime(2_000_000, 1_000_000)).toBe('now')
  })

  it('formats durations with a suitable unit', () => {
    expect([duration(40), duration(6_200), duration(64_000)]).toEqual(['40 ms', '6.2 s', '1 min 4 s'])
  })

  it('writes absolute times as yyyy-MM-dd HH:mm:ss', () => {
    expect(absoluteTime(new Date(2026, 0, 5, 7, 8, 9).getTime())).toBe('2026-01-05 07:08:09')
  })
})
