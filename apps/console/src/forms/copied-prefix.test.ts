import { expect, it } from 'vitest'
import { copiedPrefix } from './copied-prefix.ts'

it('proposes a prefix that differs from that of the original', () => {
  expect(['shop', 'shop-copy', 'shop-copy-2'].map(copiedPrefix)).toEqual(['shop-copy', 'shop-copy-2', 'shop-copy-3'])
})
