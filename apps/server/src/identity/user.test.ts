import { expect, it } from 'vitest'
import { toUser } from './identity.ts'

const user = (name: object) =>
  toUser({ id: 'a', schema_id: 'default', schema_url: '', traits: { email: 'ada@example.com', name } })

it.each([
  ['both names', { first: 'Ada', last: 'Lovelace' }, 'Ada Lovelace'],
  ['one name', { last: 'Lovelace' }, 'Lovelace'],
  ['the address, without a name', {}, 'ada@example.com'],
  ['something else than a name', { first: 7, last: '' }, 'ada@example.com'],
  ['a name that fills pages', { first: 'a'.repeat(100_000) }, 'a'.repeat(200)],
  ['a name that would be cut within a character', { first: `${'a'.repeat(199)}😀` }, `${'a'.repeat(199)}\ufffd`],
])('the name of a user is derived from %s', (_, name, shown) => {
  expect(user(name)).toEqual({ id: 'a', name: shown, email: 'ada@example.com' })
})
