import { expect, test } from 'vitest'
import { deletionLimitsMs } from './limits.ts'

test('a deletion answers before proxies end its request', () => {
  const together = Object.values(deletionLimitsMs).reduce<number>((sum, ms) => sum + ms, 0)
  expect(together).toBeLessThanOrEqual(55_000)
})
