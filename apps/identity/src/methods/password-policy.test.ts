import { expect, it } from 'vitest'
import { commonPasswords } from './common-passwords.ts'
import { passwordProblem } from './password-policy.ts'

const problemOf = (password: string, identifier = 'ada.byron@example.com') => passwordProblem(password, identifier)?.id

it.each([
  ['seven77', 4000032],
  ['🦦🦦🦦🦦🦦🦦🦦', 4000032],
  ['x'.repeat(1025), 4000033],
  ['ada.byron@example.com', 4000031],
  ['ADA.BYRON@EXAMPLE.ORG', 4000031],
  ['ada.byron', 4000031],
  ['ada.byron1815', 4000031],
  ['password123', 4000034],
  ['PassWord123', 4000034],
  ['12345678', 4000034],
])('refuses %s', (password, id) => {
  expect(problemOf(password)).toBe(id)
})

it.each(['correct battery staple horse', '🦦🦦🦦🦦🦦🦦🦦🦦', 'x'.repeat(1024), 'byron wrote poems'])(
  'accepts %s',
  (password) => {
    expect(problemOf(password)).toBeUndefined()
  },
)

it('holds only passwords that would pass the other rules', () => {
  for (const password of commonPasswords) {
    expect(password).toBe(password.toLowerCase())
    expect(password.length).toBeGreaterThanOrEqual(8)
  }
})

it('is quick with the longest password and the longest address', () => {
  // Processor time: a busy machine must not fail the test.
  const start = process.cpuUsage()
  passwordProblem('a'.repeat(1024), `${'b'.repeat(64)}@${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(60)}`)
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(300)
})
