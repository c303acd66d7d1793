import { expect, it } from 'vitest'
import { toTrend } from './trend.ts'

it.each([
  [900, 1_000, { kind: 'faster', percent: 10 }],
  [2_500, 1_000, { kind: 'slower', percent: 150 }],
  [1_004, 1_000, { kind: 'same', percent: 0 }],
  [0, 1_000, { kind: 'faster', percent: 100 }],
  [1_000, null, null],
  [1_000, 0, null],
  [null, 1_000, null],
])('the median time %s after %s is shown as a change of %o', (medianMs, previousMedianMs, trend) => {
  expect(toTrend({ medianMs, previousMedianMs })).toEqual(trend)
})
