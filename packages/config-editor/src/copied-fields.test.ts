import { describe, expect, it } from 'vitest'
import { copyFields, fieldDifferences } from './copied-fields.ts'

const here = {
  name: 'web',
  tty: true,
  environment: [{ id: 'a', key: 'LOG', value: 'info' }],
  secrets: [{ id: 's', key: 'TOKEN', required: true, value: 'armoured', encrypted: true }],
}
const other = {
  name: 'web',
  environment: [
    { id: 'x', key: 'LOG', value: 'debug' },
    { id: 'y', key: 'NEW', value: '1' },
  ],
  secrets: [
    { id: 't', key: 'TOKEN', required: true, value: 'for another node', encrypted: true },
    { id: 'u', key: 'KEY', required: false, value: 'for another node', encrypted: true },
  ],
}

describe('copying settings from another configuration', () => {
  it('lists the changes by field', () => {
    expect(fieldDifferences(here, other).map(({ field, onlyHere }) => [field, onlyHere])).toEqual([
      ['environment', false],
      ['secrets', false],
      ['tty', true],
    ])
    expect(fieldDifferences(here, other)[0]?.changes).toEqual([
      { property: 'environment.LOG', from: 'info', to: 'debug' },
      { property: 'environment.NEW', from: undefined, to: '1' },
    ])
  })

  it('keeps ids of existing rows, and never copies a value of a secret', () => {
    const changes = copyFields(here, other, ['environment', 'secrets', 'tty'], () => 'new')
    expect(changes).toEqual([
      {
        field: 'environment',
        value: [
          { id: 'a', key: 'LOG', value: 'debug' },
          { id: 'new', key: 'NEW', value: '1' },
        ],
      },
      {
        field: 'secrets',
        value: [
          { id: 's', key: 'TOKEN', required: true, value: 'armoured', encrypted: true },
          { id: 'new', key: 'KEY', required: false },
        ],
      },
      { field: 'tty', value: null },
    ])
  })
})
