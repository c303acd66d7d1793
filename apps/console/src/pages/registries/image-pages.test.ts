import { describe, expect, test } from 'vitest'
import { getPages, moveInList } from './image-pages.ts'

describe('pages of a virtual list', () => {
  test('are those of the rows in view, also where the view spans two of them', () => {
    expect(getPages({ startIndex: 5, endIndex: 20 }, 100, 7)).toEqual([0])
    expect(getPages({ startIndex: 95, endIndex: 110 }, 100, 99)).toEqual([0, 1])
  })
  test('contain the page of the row with the focus, which stays when it is scrolled out of view', () => {
    expect(getPages({ startIndex: 9_990, endIndex: 9_999 }, 100, 3)).toEqual([0, 99])
    expect(getPages(null, 100, 250)).toEqual([2])
  })
})

describe('a key in the list of images', () => {
  test.each([
    ['ArrowDown', 3, 4],
    ['ArrowUp', 3, 2],
    ['ArrowUp', 0, 0],
    ['ArrowDown', 99, 99],
    ['PageDown', 95, 99],
    ['PageUp', 5, 0],
    ['Home', 50, 0],
    ['End', 50, 99],
  ])('%s moves the focus from row %i to row %i of 100', (key, from, to) => {
    expect(moveInList(key, from, 100)).toBe(to)
  })
  test('other than these moves nothing', () => {
    expect(moveInList('Enter', 3, 100)).toBeUndefined()
  })
})
