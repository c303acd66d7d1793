import { expect, test } from 'vitest'
import { amountText, partText, toShare } from './capacity.ts'

const gibibyte = 2 ** 30

test('cores have two digits behind the point, and pods none', () => {
  expect([0, 250, 1_500, 3_920, 64_000, 1_834_250].map((amount) => amountText('cpuMillis', amount))).toEqual([
    '0',
    '0.25',
    '1.5',
    '3.92',
    '64',
    '1,834',
  ])
  expect(amountText('pods', 110)).toBe('110')
})

test('memory is counted in binary units', () => {
  expect(
    [0, 1_023, 1_024, 512 * 2 ** 20, 15.6 * gibibyte, 2_048 * gibibyte].map((amount) =>
      amountText('memoryBytes', amount),
    ),
  ).toEqual(['0', '1,023 B', '1 KiB', '512 MiB', '15.6 GiB', '2 TiB'])
})

test('a part names its unit only where it is another one than that of the whole', () => {
  expect(partText('memoryBytes', 4 * gibibyte, 16 * gibibyte)).toBe('4 of 16 GiB')
  expect(partText('memoryBytes', gibibyte / 2, 16 * gibibyte)).toBe('512 MiB of 16 GiB')
  expect(partText('cpuMillis', 1_500, 4_000)).toBe('1.5 of 4')
  expect(partText('memoryBytes', 0, 16 * gibibyte)).toBe('0 of 16 GiB')
  expect(partText('pods', 12, 110)).toBe('12 of 110')
})

test('a share is never more than the whole', () => {
  expect([toShare(1, 4), toShare(5, 4), toShare(0, 0), toShare(1, 0)]).toEqual([0.25, 1, 0, 1])
})
