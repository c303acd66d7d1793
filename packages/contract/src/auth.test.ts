import { expect, it } from 'vitest'
import { NewPassword, PasswordWrite } from './auth.ts'

const fox = '🦊'
const withPassword = (password: string) => ({ flow: 'f', csrfToken: 't', password })

it.each([8, 1024])('accepts a new password of %i characters, each of them two UTF-16 units', (count) => {
  const password = fox.repeat(count)
  expect(NewPassword.safeParse(password).success).toBe(true)
  expect(PasswordWrite.safeParse(withPassword(password)).success).toBe(true)
})

it.each([
  [7, { code: 'too_small', minimum: 8, origin: 'string' }],
  [1025, { code: 'too_big', maximum: 1024, origin: 'string' }],
])('rejects a new password of %i characters with the same issue as a length of zod', (count, issue) => {
  expect(NewPassword.safeParse(fox.repeat(count)).error?.issues).toEqual([expect.objectContaining(issue)])
})

it('leaves the minimum of a password to the identity service, but requires one', () => {
  expect(PasswordWrite.safeParse(withPassword('a')).success).toBe(true)
  expect(PasswordWrite.safeParse(withPassword('')).success).toBe(false)
  expect(PasswordWrite.safeParse(withPassword(fox.repeat(1025))).success).toBe(false)
})
