import { expect, it } from 'vitest'
import { envChanges, withEnvChanges } from './env-changes.ts'

const own = [
  { id: '1', key: 'LOG', value: 'info' },
  { id: '2', key: 'OLD', value: 'x' },
]
const shown = new Map<string, string | null>([
  ['LOG', 'info'],
  ['OLD', 'x'],
  ['REGION', 'eu'],
])
const file = [
  { key: 'LOG', value: 'debug' },
  { key: 'REGION', value: 'eu' },
  { key: 'NEW', value: '1' },
]

it('an import of an .env file lists what it adds and changes, and keeps other variables', () => {
  const changes = envChanges(own, shown, file, false)
  expect(changes).toEqual([
    { key: 'LOG', kind: 'changed', from: 'info', to: 'debug' },
    { key: 'REGION', kind: 'same', to: 'eu' },
    { key: 'NEW', kind: 'added', to: '1' },
  ])
  expect(withEnvChanges(own, changes, () => 'new')).toEqual([
    { id: '1', key: 'LOG', value: 'debug' },
    { id: '2', key: 'OLD', value: 'x' },
    { id: 'new', key: 'NEW', value: '1' },
  ])
})

it('an import of an .env file removes the variables that it does not name only with replace', () => {
  const changes = envChanges(own, shown, file, true)
  expect(changes.at(-1)).toEqual({ key: 'OLD', kind: 'removed', from: 'x' })
  expect(withEnvChanges(own, changes, () => 'new').map((row) => row.key)).toEqual(['LOG', 'NEW'])
})

it('an import of an .env file restores a variable that this layer had removed', () => {
  const removed = [{ id: '1', key: 'LOG', value: null }]
  const changes = envChanges(removed, new Map([['LOG', null]]), [{ key: 'LOG', value: 'debug' }], false)
  expect(withEnvChanges(removed, changes, () => 'new')).toEqual([{ id: '1', key: 'LOG', value: 'debug' }])
})
