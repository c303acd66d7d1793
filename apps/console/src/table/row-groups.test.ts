import { expect, it } from 'vitest'
import { withGroups } from './row-groups.ts'

it('puts the name and the count before the first row of each group', () => {
  expect(withGroups(['ops-a', 'shop-a', 'shop-b'], (row) => row.split('-')[0] ?? '')).toEqual([
    { group: 'ops', count: 1 },
    { row: 'ops-a' },
    { group: 'shop', count: 2 },
    { row: 'shop-a' },
    { row: 'shop-b' },
  ])
})

it('does not change rows without groups', () => {
  expect(withGroups([1, 2], undefined)).toEqual([{ row: 1 }, { row: 2 }])
})
