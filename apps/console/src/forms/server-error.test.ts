import { expect, it } from 'vitest'
import { fieldOf } from './server-error.ts'

const values = { name: '', url: '', details: { user: '' } }

it('finds the field that a refusal names', () => {
  expect(fieldOf('name', {}, values)).toBe('name')
  expect(fieldOf('details.user', {}, values)).toBe('details.user')
})

it('finds a nested property in a flat form, and by a given name', () => {
  expect(fieldOf('details.url', {}, values)).toBe('url')
  expect(fieldOf('email', { email: 'name' }, values)).toBe('name')
})

it('leaves what no field carries to the banner', () => {
  expect(fieldOf('teamId', {}, values)).toBeUndefined()
  expect(fieldOf('details.token', {}, values)).toBeUndefined()
})
