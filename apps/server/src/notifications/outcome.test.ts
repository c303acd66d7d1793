import { describe, expect, it } from 'vitest'
import { deliveryMs, getNextAttempt, judgeStatus, parseRetryAfter } from './outcome.ts'

const now = new Date('2026-11-23T12:00:00Z')
const retry = { kind: 'retry', statusCode: 503, error: 'answer' } as const
const half = () => 0.5

describe('an answer', () => {
  it.each([
    [200, 'delivered'],
    [202, 'delivered'],
    [204, 'delivered'],
    [301, 'doubtful'],
    [307, 'doubtful'],
    [400, 'doubtful'],
    [401, 'doubtful'],
    [404, 'doubtful'],
    [408, 'retry'],
    [410, 'gone'],
    [425, 'retry'],
    [429, 'retry'],
    [500, 'retry'],
    [503, 'retry'],
  ])('%i is judged as %s', (status, kind) => expect(judgeStatus(status, undefined)).toMatchObject({ kind }))

  it.each([
    ['120', 120_000],
    ['0', 1_000],
    ['0.35', 1_000],
    ['2.5', 2_500],
    ['Mon, 23 Nov 2026 12:10:00 GMT', 600_000],
    ['Mon, 23 Nov 2026 11:00:00 GMT', 1_000],
    ['999999999', deliveryMs],
    ['Mon, 23 Nov 2099 11:00:00 GMT', deliveryMs],
    ['soon', undefined],
    ['-5', undefined],
    ['', undefined],
    [undefined, undefined],
  ])('with Retry-After %j asks for a pause of %j ms', (header, ms) => {
    const parsed = parseRetryAfter(header, now)
    if (header === '-5') expect(parsed === undefined || parsed === 1_000).toBe(true)
    else expect(parsed).toBe(ms)
  })
})

describe('the next attempt', () => {
  const pauseAfter = (attempts: number) => {
    const next = getNextAttempt(retry, { attempts, createdAt: now }, now, half)
    return next && (next.getTime() - now.getTime()) / 1_000
  }

  it('comes after pauses that grow to an hour', () => {
    expect([1, 2, 3, 4, 5, 6, 7, 8, 9, 20].map(pauseAfter)).toEqual([
      10, 30, 60, 120, 300, 600, 1_800, 3_600, 3_600, 3_600,
    ])
  })

  it('is spread by a tenth, so that what failed together is not repeated together', () => {
    const next = (random: number) =>
      getNextAttempt(retry, { attempts: 3, createdAt: now }, now, () => random)?.getTime() ?? 0
    expect([next(0) - now.getTime(), next(1) - now.getTime()]).toEqual([54_000, 66_000])
  })

  it('comes when the receiver wants it, but not before the pause is over', () => {
    const at = (retryAfterMs: number) =>
      getNextAttempt({ ...retry, retryAfterMs }, { attempts: 2, createdAt: now }, now, half)?.getTime()
    expect(at(120_000)).toBe(now.getTime() + 120_000)
    expect(at(1_000)).toBe(now.getTime() + 30_000)
  })

  it('comes for the last time a day after the event, whatever the receiver wants', () => {
    const createdAt = new Date(now.getTime() - deliveryMs + 60_000)
    const outcome = { ...retry, retryAfterMs: deliveryMs }
    expect(getNextAttempt(outcome, { attempts: 30, createdAt }, now)?.getTime()).toBe(now.getTime() + 60_000)
    const after = new Date(now.getTime() + 60_000)
    expect(getNextAttempt(outcome, { attempts: 31, createdAt }, after)).toBeUndefined()
  })

  it('comes twice after an answer that will most likely stay the same, and never after one that is final', () => {
    const doubtful = { kind: 'doubtful', statusCode: 404, error: 'answer' } as const
    const has = (attempts: number) => getNextAttempt(doubtful, { attempts, createdAt: now }, now) !== undefined
    expect([1, 2, 3].map(has)).toEqual([true, true, false])
    for (const kind of ['final', 'gone'] as const)
      expect(getNextAttempt({ ...doubtful, kind }, { attempts: 1, createdAt: now }, now)).toBeUndefined()
  })
})
