import type { FreezeWindowWrite } from '@crux/contract'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findFreeze, findFreezeProblems, findNextFreeze, freezeEndText } from './freeze-windows.ts'

const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_123)
const numRuns = process.env.CRUX_TEST_FULL ? 2_000 : 150
type Weekly = Extract<FreezeWindowWrite, { kind: 'weekly' }>
const weekly = (window: Partial<Weekly> = {}): Weekly => ({
  kind: 'weekly',
  reason: 'Weekend',
  days: [5],
  from: '18:00',
  to: '20:00',
  timeZone: 'UTC',
  ...window,
})
const once = (from: string, to: string, reason = 'Release week'): FreezeWindowWrite => ({
  kind: 'once',
  reason,
  from,
  to,
})
const at = (text: string) => new Date(text)
const until = (windows: readonly FreezeWindowWrite[], now: string) => findFreeze(windows, at(now))?.until.toISOString()

describe('a weekly freeze window', () => {
  it('freezes from its first moment until just before its end', () => {
    const windows = [weekly()]
    expect(until(windows, '2026-11-27T17:59:59.999Z')).toBeUndefined()
    expect(until(windows, '2026-11-27T18:00:00.000Z')).toBe('2026-11-27T20:00:00.000Z')
    expect(until(windows, '2026-11-27T19:59:59.999Z')).toBe('2026-11-27T20:00:00.000Z')
    expect(until(windows, '2026-11-27T20:00:00.000Z')).toBeUndefined()
    expect(until(windows, '2026-11-26T19:00:00.000Z')).toBeUndefined()
  })

  it('goes on to the next day where it ends at or before its beginning, also from Sunday to Monday', () => {
    const windows = [weekly({ days: [7], from: '22:00', to: '06:00' })]
    expect(until(windows, '2026-11-29T23:00:00Z')).toBe('2026-11-30T06:00:00.000Z')
    expect(until(windows, '2026-11-30T05:59:00Z')).toBe('2026-11-30T06:00:00.000Z')
    expect(until(windows, '2026-11-29T21:00:00Z')).toBeUndefined()
    expect(until([weekly({ from: '09:00', to: '09:00' })], '2026-11-28T08:59:00Z')).toBe('2026-11-28T09:00:00.000Z')
  })

  it('is a time in its zone', () => {
    const windows = [weekly({ timeZone: 'Asia/Kathmandu' })]
    expect(until(windows, '2026-11-27T12:15:00Z')).toBe('2026-11-27T14:15:00.000Z')
    expect(until(windows, '2026-11-27T18:30:00Z')).toBeUndefined()
  })

  it('ends together with the windows that overlap or adjoin it, with the reason of the one which ends last', () => {
    const windows = [
      weekly({ reason: 'A' }),
      weekly({ reason: 'B', from: '19:00', to: '21:00' }),
      weekly({ reason: 'C', from: '21:00', to: '22:00' }),
      weekly({ reason: 'D', from: '22:01', to: '23:00' }),
    ]
    expect(findFreeze(windows, at('2026-11-27T18:30:00Z'))).toMatchObject({
      reason: 'A',
      until: at('2026-11-27T22:00:00Z'),
    })
    expect(findFreeze(windows, at('2026-11-27T19:30:00Z'))).toMatchObject({ reason: 'B' })
  })

  it('that covers the whole week says that no end was found, after looking for eight days', () => {
    const freeze = findFreeze(
      [weekly({ days: [1, 2, 3, 4, 5, 6, 7], from: '00:00', to: '00:00' })],
      at('2026-11-25T10:00:00Z'),
    )
    expect(freeze).toMatchObject({ openEnded: true, until: at('2026-12-04T00:00:00Z') })
  })

  it('of six whole days ends on the seventh', () => {
    const freeze = findFreeze(
      [weekly({ days: [1, 2, 3, 4, 5, 6], from: '00:00', to: '00:00' })],
      at('2026-11-23T00:00Z'),
    )
    expect(freeze?.until).toEqual(at('2026-11-29T00:00:00Z'))
    expect(freeze).not.toHaveProperty('openEnded')
  })
})

describe('a freeze window with a beginning and an end', () => {
  it('freezes between them', () => {
    const windows = [once('2026-12-20T00:00:00+01:00', '2027-01-04T08:00:00+01:00')]
    expect(until(windows, '2026-12-19T22:59:59Z')).toBeUndefined()
    expect(until(windows, '2026-12-19T23:00:00Z')).toBe('2027-01-04T07:00:00.000Z')
    expect(until(windows, '2027-01-04T07:00:00Z')).toBeUndefined()
  })

  it('that lasts for months names its end, and continues with a weekly one', () => {
    const windows = [once('2026-11-01T00:00:00Z', '2027-04-02T18:30:00Z'), weekly()]
    expect(findFreeze(windows, at('2026-11-23T00:00:00Z'))).toEqual({
      reason: 'Release week',
      until: at('2027-04-02T20:00:00Z'),
    })
  })
})

describe('a freeze window that cannot be evaluated', () => {
  it.each<[string, FreezeWindowWrite]>([
    ['an unknown zone', weekly({ timeZone: 'Mars/Olympus' })],
    ['no days', weekly({ days: [] })],
    ['a day that does not exist', weekly({ days: [8] })],
    ['no times', weekly({ from: '' })],
    ['a beginning that is no date', once('', '2026-12-01T00:00:00Z')],
    ['an end before its beginning', once('2026-12-02T00:00:00Z', '2026-12-01T00:00:00Z')],
  ])('because of %s freezes, says so, and has no next time', (_, window) => {
    const freeze = findFreeze([weekly({ days: [1] }), window], at('2026-11-25T10:00:00Z'))
    expect(freeze?.reason).toContain('cannot be evaluated')
    expect(freeze).toMatchObject({ openEnded: true, until: at('2026-11-25T11:00:00Z') })
    expect(findNextFreeze(window, at('2026-11-25T10:00:00Z'))).toBeUndefined()
  })
})

describe('when clocks change', () => {
  const night = (from: string, to: string, timeZone = 'Europe/Budapest') => [weekly({ days: [7], from, to, timeZone })]
  it('a window from an hour that is skipped begins after it', () => {
    expect(until(night('02:30', '04:00'), '2026-03-29T00:59:00Z')).toBeUndefined()
    expect(until(night('02:30', '04:00'), '2026-03-29T01:00:00Z')).toBe('2026-03-29T02:00:00.000Z')
  })

  it('a window within an hour that is skipped does not exist in that week, and has a next time in the next one', () => {
    const [window] = night('02:15', '02:45')
    if (!window) throw new Error('no window')
    expect(until([window], '2026-03-29T01:00:00Z')).toBeUndefined()
    expect(findNextFreeze(window, at('2026-03-28T12:00:00Z'))?.from).toEqual(at('2026-04-05T00:15:00Z'))
  })

  it('a window in an hour that comes twice freezes from its first beginning to its last end', () => {
    const windows = night('02:15', '02:45')
    expect(until(windows, '2026-10-25T00:14:00Z')).toBeUndefined()
    expect(until(windows, '2026-10-25T00:15:00Z')).toBe('2026-10-25T01:45:00.000Z')
    expect(until(windows, '2026-10-25T01:00:00Z')).toBe('2026-10-25T01:45:00.000Z')
    expect(until(windows, '2026-10-25T01:45:00Z')).toBeUndefined()
  })
})

/** Weeks in which a clock changes: by an hour, by half an hour, at midnight, by a whole day; and weeks in which none does. */
const weeks: [timeZone: string, middle: string][] = [
  ['Europe/Budapest', '2026-03-29T01:00Z'],
  ['Europe/Budapest', '2026-10-25T01:00Z'],
  ['America/New_York', '2026-11-01T06:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00Z'],
  ['America/Sao_Paulo', '2018-11-04T03:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00Z'],
  ['Asia/Kathmandu', '2026-11-23T00:00Z'],
]
const [minute, day] = [60_000, 86_400_000]
const clocks = new Map<string, { from: number; shown: number[] }>()

/** What the clock shows in each minute of 24 days. */
function readMinutes(timeZone: string, middle: string) {
  const key = `${timeZone} ${middle}`
  const known = clocks.get(key)
  if (known) return known
  const format = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
  const from = Date.parse(middle) - 8 * day
  const shown = Array.from({ length: 24 * 1_440 }, (_, index) =>
    Date.parse(`${format.format(from + index * minute).replace(' ', 'T')}Z`),
  )
  clocks.set(key, { from, shown })
  return { from, shown }
}

/** Per minute whether it is frozen: the definition, followed minute by minute. */
function frozenMinutes({ days, from, to }: Weekly, shown: readonly number[]): Set<number> {
  const frozen = new Set<number>()
  const local = (date: number, text: string) => date + Date.parse(`1970-01-01T${text}Z`)
  const dates = Math.floor((shown[0] ?? 0) / day) * day
  for (let date = dates; date < dates + 24 * day; date += day) {
    if (!days.includes(new Date(date).getUTCDay() || 7)) continue
    const [begins, ends] = [local(date, from), local(to <= from ? date + day : date, to)]
    const first = shown.findIndex((time) => time >= begins)
    const last = shown.findLastIndex((time) => time < ends)
    for (let index = first; index >= 0 && index <= last; index++) frozen.add(index)
  }
  return frozen
}

const arbitraryTime = fc
  .integer({ min: 0, max: 95 })
  .map((quarter) => new Date(quarter * 15 * minute).toISOString().slice(11, 16))
const arbitraryWeekly = fc.record({
  days: fc.uniqueArray(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 7 }),
  from: arbitraryTime,
  to: arbitraryTime,
})

it('agrees with clocks that are read minute by minute, in weeks in which they change', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...weeks),
      fc.array(arbitraryWeekly, { minLength: 1, maxLength: 3 }),
      fc.integer({ min: -2 * 1_440, max: 2 * 1_440 }),
      ([timeZone, middle], times, offset) => {
        const { from, shown } = readMinutes(timeZone, middle)
        const windows = times.map((time) => weekly({ ...time, timeZone }))
        const frozen = new Set(windows.flatMap((window) => [...frozenMinutes(window, shown)]))
        const now = 8 * 1_440 + offset
        const freeze = findFreeze(windows, new Date(from + now * minute + 30_000))
        expect(freeze !== undefined).toBe(frozen.has(now))
        if (!freeze) return
        let end = now
        while (frozen.has(end)) end++
        if (freeze.openEnded) expect(end - now).toBeGreaterThanOrEqual(8 * 1_440)
        else expect(freeze.until).toEqual(new Date(from + end * minute))
      },
    ),
    { numRuns, seed },
  )
})

it('the next time of a window freezes from its beginning to its end, and nothing before it', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...weeks),
      arbitraryWeekly,
      fc.integer({ min: -2 * 1_440, max: 2 * 1_440 }),
      ([timeZone, middle], times, offset) => {
        const window = weekly({ ...times, timeZone })
        const now = new Date(Date.parse(middle) + offset * minute)
        const next = findNextFreeze(window, now)
        if (!next) throw new Error('no next time')
        const isNow = next.from <= now
        expect(findFreeze([window], now) !== undefined).toBe(isNow)
        expect(findFreeze([window], next.from)).toBeDefined()
        expect(findFreeze([window], new Date(next.until.getTime() - 1))).toBeDefined()
        if (!isNow) expect(findFreeze([window], new Date(next.from.getTime() - 1))).toBeUndefined()
      },
    ),
    { numRuns, seed },
  )
})

describe('findFreezeProblems', () => {
  const now = at('2026-11-25T10:00:00Z')
  it.each<[string, FreezeWindowWrite]>([
    ['timeZone', weekly({ timeZone: 'Mars/Olympus' })],
    ['timeZone', weekly({ timeZone: '+02:00' })],
    ['timeZone', weekly({ timeZone: 'Europe/Budapest; drop table' })],
    ['to', once('2026-12-02T00:00:00Z', '2026-12-01T00:00:00Z')],
    ['to', once('2026-12-02T00:00:00Z', '2026-12-02T00:00:00Z')],
    ['to', once('2026-11-02T00:00:00Z', '2026-11-25T10:00:00Z')],
    ['from', once('never', '2026-12-02T00:00:00Z')],
  ])('names %s of %j', (property, window) => {
    expect(findFreezeProblems(window, now)).toEqual([{ property, description: expect.stringMatching(/\.$/) }])
  })

  it.each([
    weekly(),
    weekly({ from: '09:00', to: '09:00', timeZone: 'America/Argentina/Buenos_Aires' }),
    once('2026-11-01T00:00:00Z', '2026-11-25T10:00:01Z'),
  ])('accepts %j', (window) => expect(findFreezeProblems(window, now)).toEqual([]))
})

it('the end of a freeze is shown in UTC and in the zone of its window', () => {
  const freeze = { reason: 'x', until: at('2026-12-24T17:00:00Z') }
  expect(freezeEndText(freeze)).toBe('until 2026-12-24 17:00 UTC')
  expect(freezeEndText({ ...freeze, timeZone: 'Europe/Budapest' })).toBe(
    'until 2026-12-24 17:00 UTC (18:00 in Europe/Budapest)',
  )
  expect(freezeEndText({ ...freeze, timeZone: 'Asia/Tokyo' })).toBe(
    'until 2026-12-24 17:00 UTC (2026-12-25 02:00 in Asia/Tokyo)',
  )
  expect(freezeEndText({ ...freeze, openEnded: true })).toBe('without an end in the next days')
})
