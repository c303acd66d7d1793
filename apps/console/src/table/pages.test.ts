import { expect, it } from 'vitest'
import { pagesAround } from './pages.ts'

it('offers five pages around the current one, all within the list', () => {
  expect(pagesAround(0, 0)).toEqual([0])
  expect(pagesAround(0, 9)).toEqual([0, 1, 2, 3, 4])
  expect(pagesAround(5, 9)).toEqual([3, 4, 5, 6, 7])
  expect(pagesAround(9, 9)).toEqual([5, 6, 7, 8, 9])
  expect(pagesAround(1, 2)).toEqual([0, 1, 2])
})
