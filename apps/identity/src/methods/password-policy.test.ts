import { expect, it } from 'vitest'
import { commonPasswords } from './common-passwords.ts'
import { passwordProblem } from './password-policy.ts'

const findProblem = (password: string, identifier = 'ada.byron@example.com') =>
  passwordProblem(password, { identifier, names: ['Augusta', 'King-Noël'] })?.id

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
  ['Augusta1815!', 4000031],
  ['king-noël-augusta', 4000031],
  ['1815NoëlKing', 4000031],
  ['P@ssw0rd2026!', 4000034],
  ['Summer2026', 4000034],
  ['!!Welcome123', 4000034],
  ['poiuytrewq', 4000034],
  ['0987654321', 4000034],
  ['1qaz2wsx3edc', 4000034],
])('the password policy refuses %s', (password, id) => {
  expect(findProblem(password)).toBe(id)
})

it.each([
  'correct battery staple horse',
  '🦦🦦🦦🦦🦦🦦🦦🦦',
  'x'.repeat(1024),
  'byron wrote poems',
  'augusta likes engines',
  'summer in Lisbon',
  '7391 6620 8454',
])('the password policy accepts %s', (password) => {
  expect(findProblem(password)).toBeUndefined()
})

it('the list of common passwords contains only passwords that pass the other rules', () => {
  for (const password of commonPasswords) {
    expect(password).toBe(password.toLowerCase())
    expect(password.length).toBeGreaterThanOrEqual(8)
  }
})

it('the password policy is fast with the longest password and the longest address', () => {
  // The test measures processor time, so that a busy machine does not make it fail.
  const start = process.cpuUsage()
  const identifier = `${'b'.repeat(64)}@${'c'.repeat(63)}.${'d'.repeat(63)}.${'e'.repeat(60)}`
  passwordProblem('a'.repeat(1024), { identifier, names: ['f'.repeat(1024)] })
  expect(process.cpuUsage(start).user / 1000).toBeLessThan(300)
})
