import { describe, expect, it } from 'vitest'
import { layerRows, withoutRow, withRow } from './keyed-rows.ts'

type Row = { id?: string; key: string; value: string | null }
const same = (a: Row, b: Row) => a.key === b.key
const removal = (row: Row) => row.value === null
const parent: Row[] = [
  { id: 'p1', key: 'LOG', value: 'info' },
  { id: 'p2', key: 'URL', value: 'a' },
]

describe('rows of an instance over those of its image', () => {
  it('have the order of the image and the origin of each row', () => {
    const own: Row[] = [
      { id: 'o1', key: 'NEW', value: '1' },
      { id: 'o2', key: 'URL', value: null },
    ]
    expect(
      layerRows(own, parent, same, removal).map(({ row, origin, index }) => [row.key, row.value, origin, index]),
    ).toEqual([
      ['LOG', 'info', 'inherited', -1],
      ['URL', 'a', 'removed', 1],
      ['NEW', '1', 'own', 0],
    ])
  })

  it('become rows of the instance when they are edited, and keep their input', () => {
    const [log] = layerRows([], parent, same, removal)
    if (!log) throw new Error('no row')
    const own = withRow([], log, { value: 'debug' }, () => 'new')
    expect(own).toEqual([{ id: 'new', key: 'LOG', value: 'debug' }])
    const after = layerRows(own, parent, same, removal)[0]
    expect(after).toMatchObject({ origin: 'override', id: log.id, index: 0 })
    expect(layerRows(withoutRow(own, 0), parent, same, removal)[0]).toMatchObject({
      origin: 'inherited',
      row: { value: 'info' },
    })
  })
})
