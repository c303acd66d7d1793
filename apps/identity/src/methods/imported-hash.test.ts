import { expect, it } from 'vitest'
import { importedPasswords } from '../../test/kratos/imported-passwords.ts'
import { password } from '../../test/kratos/users.ts'
import { importedHash } from './imported-hash.ts'

const check = (hash: string, typed: string) => importedHash(hash)?.(typed)

it.each(Object.entries(importedPasswords))('importedHash verifies a password hashed with %s', async (_name, hash) => {
  expect(await check(hash, password)).toBe(true)
  expect(await check(hash, `${password} `)).toBe(false)
  expect(await check(hash, '')).toBe(false)
})

it('importedHash refuses passwords that are longer than the 72 bytes that bcrypt evaluates', async () => {
  // The hash of 72 letters x.
  const hash = '$2y$05$aUnpczDmMSySjH0V5xaI5OxSN0mlhq321uoRp7RXAQDXZ4rwpHKd.'
  expect(await check(hash, 'x'.repeat(72))).toBe(true)
  expect(await check(hash, `${'x'.repeat(72)}y`)).toBe(false)
})

it.each([
  '',
  'zz',
  '$2a$zz',
  '$2a$31$nOUIs5kJ7naTuTFkBy1veuK0kSxUFXfuaOKdOKf9xYT0KKIGSJwFa',
  '$argon2id$zz',
  '$argon2id$v=19$m=99999999,t=2,p=1$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG',
  '$pbkdf2-sha256$zz',
  '$pbkdf2-sha256$i=99999999,l=32$c29tZXNhbHQ$RdescudvJCsgt3ub+b4dWRWJTmaaJObG',
  '$pbkdf2-sha256$i=1000,l=32$c29tZXNhbHQ$',
  '$scrypt$zz',
  '$scrypt$ln=1000,r=8,p=1$c29tZXNhbHQ=$RdescudvJCsgt3ub+b4dWRWJTmaaJObG',
  '$scrypt$ln=1048576,r=8,p=1$c29tZXNhbHQ=$RdescudvJCsgt3ub+b4dWRWJTmaaJObG',
  '{SSHA}',
  '{SSHA}c2hvcnQ=',
  '{SHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
])('importedHash refuses %s', (hash) => {
  expect(importedHash(hash)).toBeUndefined()
})
