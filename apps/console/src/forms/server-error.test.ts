import { expect, it } from 'vitest'
import { fieldOf } from './server-error.ts'

const values = { name: '', url: '', details: { user: '' } }

it('maps an error to the field that it names', () => {
  expect(fieldOf('name', {}, values)).toBe('name')
  expect(fieldOf('details.user', {}, values)).toBe('details.user')
})

it('maps a nested property to a flat form, also by a given name', () => {
  expect(fieldOf('details.url', {}, values)).toBe('url')
  expect(fieldOf('email', { email: 'name' }, values)).toBe('name')
})

it('leaves errors without a field to the banner', () => {
  expect(fieldOf('teamId', {}, values)).toBeUndefined()
  expect(fieldOf('details.token', {}, values)).toBeUndefined()
})
