import { createHash, pbkdf2, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { verify as verifyArgon2 } from '@node-rs/argon2'
import { verify as verifyBcrypt } from '@node-rs/bcrypt'

/** Verifies a password against one hash, off the event loop where the check takes time. */
export type PasswordCheck = (password: string) => Promise<boolean>

/**
 * Returns the check for a password that another system hashed: argon2, bcrypt, PBKDF2 or scrypt in the format of the Password Hashing Competition, or
 * SSHA as in LDAP. Undefined for other formats, and for hashes whose cost would block the service.
 */
export function importedHash(hash: string): PasswordCheck | undefined {
  if (hash.length > 1024) return undefined
  return argon2(hash) ?? bcrypt(hash) ?? pbkdf2Hash(hash) ?? scryptHash(hash) ?? ssha(hash)
}

const deriveScrypt: (
  password: string,
  salt: Buffer,
  length: number,
  options: { N: number; r: number; p: number; maxmem: number },
) => Promise<Buffer> = promisify(scrypt)
const derivePbkdf2 = promisify(pbkdf2)

function argon2(hash: string): PasswordCheck | undefined {
  const parts = /^\$argon2(?:id|i|d)\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$[\w+/]+\$[\w+/]+$/.exec(hash)
  if (!parts || Number(parts[1]) > 1024 * 1024 || Number(parts[2]) > 100 || Number(parts[3]) > 64) return undefined
  return (password) => verifyArgon2(hash, password)
}

function bcrypt(hash: string): PasswordCheck | undefined {
  const cost = /^\$2[abxy]\$(\d\d)\$[\w./]{53}$/.exec(hash)?.[1]
  if (cost === undefined || Number(cost) < 4 || Number(cost) > 16) return undefined
  // bcrypt ignores everything after the first 72 bytes, so it would accept any suffix.
  return async (password) => Buffer.byteLength(password) <= 72 && verifyBcrypt(password, hash)
}

function pbkdf2Hash(hash: string): PasswordCheck | undefined {
  const parts = /^\$pbkdf2-(sha(?:1|224|256|384|512))\$i=(\d+),l=(\d+)\$([\w+/]+)\$([\w+/]+)$/.exec(hash)
  const [, digest = '', rounds = '', , salt = '', key = ''] = parts ?? []
  const expected = Buffer.from(key, 'base64')
  if (!parts || Number(rounds) < 1 || Number(rounds) > 10_000_000 || expected.length < 16) return undefined
  return async (password) =>
    isSame(await derivePbkdf2(password, Buffer.from(salt, 'base64'), Number(rounds), expected.length, digest), expected)
}

/** `ln` is the cost itself here and not its logarithm, as Ory Kratos writes it. */
function scryptHash(hash: string): PasswordCheck | undefined {
  const parts = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([\w+/=]+)\$([\w+/=]+)$/.exec(hash)
  const [cost = 0, r = 0, p = 0] = (parts ?? []).slice(1, 4).map(Number)
  const expected = Buffer.from(parts?.[5] ?? '', 'base64')
  const isPowerOfTwo = cost > 1 && Number.isInteger(Math.log2(cost))
  const maxmem = 256 * 1024 * 1024
  if (!parts || !isPowerOfTwo || r < 1 || p < 1 || p > 16 || 128 * cost * r * 2 > maxmem || expected.length < 16)
    return undefined
  return async (password) =>
    isSame(
      await deriveScrypt(password, Buffer.from(parts[4] ?? '', 'base64'), expected.length, { N: cost, r, p, maxmem }),
      expected,
    )
}

const sshaDigests = { SSHA: ['sha1', 20], SSHA256: ['sha256', 32], SSHA512: ['sha512', 64] } as const

/** The digest of password and salt, followed by the salt. */
function ssha(hash: string): PasswordCheck | undefined {
  const parts = /^\{(SSHA|SSHA256|SSHA512)\}([\w+/]+=*)$/.exec(hash)
  if (!parts) return undefined
  const [digest, length] = sshaDigests[parts[1] as keyof typeof sshaDigests]
  const bytes = Buffer.from(parts[2] ?? '', 'base64')
  if (bytes.length <= length) return undefined
  const [expected, salt] = [bytes.subarray(0, length), bytes.subarray(length)]
  return async (password) => isSame(createHash(digest).update(password).update(salt).digest(), expected)
}

function isSame(a: Buffer, b: Buffer): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
