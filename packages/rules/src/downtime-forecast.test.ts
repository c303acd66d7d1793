import { describe, expect, it } from 'vitest'
import { downtimeForecast } from './downtime-forecast.ts'

describe('downtimeForecast', () => {
  it('includes the grace period of the stopped container in the maximum, 10 s by default', () => {
    expect(downtimeForecast({}, undefined)).toEqual({ milliseconds: 400, maximumMilliseconds: 10_400 })
    const stopped = { stopGracePeriodSeconds: 30 }
    expect(downtimeForecast(stopped, undefined)).toEqual({ milliseconds: 400, maximumMilliseconds: 30_400 })
    expect(downtimeForecast(stopped, { milliseconds: 900, gracePeriodMs: 10_000 })).toEqual({
      milliseconds: 900,
      maximumMilliseconds: 30_900,
    })
  })

  it('expects the whole grace period of a container that ignored its stop signal the last time', () => {
    const last = { milliseconds: 11_500, gracePeriodMs: 10_000 }
    expect(downtimeForecast({}, last)).toEqual({ milliseconds: 11_500, maximumMilliseconds: 11_500 })
    expect(downtimeForecast({ stopGracePeriodSeconds: 60 }, last).milliseconds).toBe(61_500)
    expect(downtimeForecast({ stopGracePeriodSeconds: 0 }, last)).toEqual({
      milliseconds: 1_500,
      maximumMilliseconds: 1_500,
    })
  })

  it('adds nothing where the container is killed at once', () => {
    const last = { milliseconds: 700, gracePeriodMs: 0 }
    expect(downtimeForecast({ stopGracePeriodSeconds: 0 }, last)).toEqual({
      milliseconds: 700,
      maximumMilliseconds: 700,
    })
  })
})
