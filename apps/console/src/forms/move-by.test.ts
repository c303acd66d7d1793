import { expect, it } from 'vitest'
import { moveBy } from './move-by.ts'

it('moves a member by one step, leaves the others in their order, and stops at the ends', () => {
  expect(moveBy(['a', 'b', 'c'], 'c', -1)).toEqual(['a', 'c', 'b'])
  expect(moveBy(['a', 'b', 'c'], 'a', 1)).toEqual(['b', 'a', 'c'])
  expect(moveBy(['a', 'b', 'c'], 'a', -1)).toEqual(['a', 'b', 'c'])
  expect(moveBy(['a', 'b'], 'x', 1)).toEqual(['a', 'b'])
})
