import { bytesOfQuantity } from '@crux/rules'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { formatQuantity, parseByteSize, parseDuration } from './units.ts'

test('durations have units, which add up', () => {
  const texts = ['30s', '1m30s', '1h5m30s20ms', '1.5s', '500ms', '0', '0s', '250us', '2h']
  expect(texts.map(parseDuration)).toEqual([30, 90, 3_930.02, 1.5, 0.5, 0, 0, 0.000_25, 7_200])
})

test('a text without a unit, or with an unknown one, is not a duration', () => {
  for (const text of ['', '30', '5 minutes', '-5s', 's', '1d', '1s '.repeat(50)])
    expect(parseDuration(text)).toBeUndefined()
})

test('sizes have binary units', () => {
  const texts = ['1024', '64b', '2k', '300kb', '64m', '64MB', '1g', '1.5gb', '1Gi', '2 t']
  const mebi = 1024 ** 2
  expect(texts.map(parseByteSize)).toEqual([
    1_024,
    64,
    2_048,
    307_200,
    64 * mebi,
    64 * mebi,
    1024 * mebi,
    1536 * mebi,
    1024 * mebi,
    2 * 1024 ** 4,
  ])
})

test('a text without a number, or too large a one, is not a size', () => {
  for (const text of ['', 'lots', '-1m', '1x', '99999999999999p']) expect(parseByteSize(text)).toBeUndefined()
})

test('a size as a quantity has the same bytes', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), (bytes) => {
      expect(bytesOfQuantity(formatQuantity(bytes))).toBe(bytes)
    }),
  )
})
