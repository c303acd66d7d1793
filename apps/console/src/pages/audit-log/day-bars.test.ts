import { describe, expect, it } from 'vitest'
import { barsMax, toBars } from './day-bars.ts'

describe('bars per day', () => {
  it('include days without entries', () => {
    const range = { from: new Date(2026, 9, 30), to: new Date(2026, 10, 2, 23, 59, 59, 999) }
    const bars = toBars(range, [{ day: '2026-11-01', accepted: 3, refused: 1 }])
    expect(bars?.map(({ day, accepted, refused }) => [day, accepted, refused])).toEqual([
      ['2026-10-30', 0, 0],
      ['2026-10-31', 0, 0],
      ['2026-11-01', 3, 1],
      ['2026-11-02', 0, 0],
    ])
  })

  it('range from midnight to the last millisecond of the day', () => {
    const bar = toBars({ from: new Date(2026, 10, 1), to: new Date(2026, 10, 1, 23, 59) }, [])?.[0]
    expect(new Date(bar?.from ?? '').getHours()).toBe(0)
    expect(new Date(bar?.to ?? '').getMilliseconds()).toBe(999)
  })

  it('are undefined for a range with too many days', () => {
    const from = new Date(2026, 0, 1)
    expect(toBars({ from, to: new Date(2026, 0, barsMax, 12) }, [])).toHaveLength(barsMax)
    expect(toBars({ from, to: new Date(2026, 0, barsMax + 1, 12) }, [])).toBeUndefined()
  })
})
