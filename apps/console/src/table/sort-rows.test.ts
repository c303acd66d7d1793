import { describe, expect, it } from 'vitest'
import { keepOrder, sortRows } from './sort-rows.ts'

describe('sorting a table', () => {
  it('compares the numbers in versions and names by value', () => {
    expect(sortRows(['v10', 'v9', 'V1'], (row) => row, 'asc')).toEqual(['V1', 'v9', 'v10'])
  })

  it('puts empty values last in both directions', () => {
    const rows = [null, 'b', undefined, 'a', '']
    expect(sortRows(rows, (row) => row, 'asc').slice(0, 2)).toEqual(['a', 'b'])
    expect(sortRows(rows, (row) => row, 'desc').slice(0, 2)).toEqual(['b', 'a'])
  })

  it('does not change the rows it was given', () => {
    const rows = [2, 1]
    sortRows(rows, (row) => row, 'asc')
    expect(rows).toEqual([2, 1])
  })

  it('keeps the order while a pointer is over the list and appends new rows', () => {
    expect(keepOrder(['new', 'b', 'a'], ['a', 'b'], (row) => row)).toEqual(['a', 'b', 'new'])
  })
})
