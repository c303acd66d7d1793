import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** The keys of the service, derived from CRUX_SECRET, one per purpose so that a value of one purpose is invalid for another. */
export interface Keys {
  /** HMAC-SHA-256 of `parts` under the key of `purpose`. */
  sign(purpose: 'logout' | 'code' | 'limit' | 'device', ...parts: string[]): Buffer
  /** Encrypts a value that must be read again: AES-256-GCM. `place` identifies where it is stored, so that it cannot be opened elsewhere. */
  seal(value: string, place: string): string
  /** @throws when it was sealed for another place or with another CRUX_SECRET */
  open(sealed: string, place: string): string
}

export function deriveKeys(secret: string): Keys {
  const keys = new Map<string, Buffer>()
  const toKey = (purpose: string) => {
    let key = keys.get(purpose)
    if (!key) {
      key = Buffer.from(hkdfSync('sha256', secret, '', `crux identity ${purpose}`, 32))
      keys.set(purpose, key)
    }
    return key
  }
  return {
    sign: (purpose, ...parts) => createHmac('sha256', toKey(purpose)).update(JSON.stringify(parts)).digest(),
    seal(value, place) {
      const iv = randomBytes(ivBytes)
      const cipher = createCipheriv('aes-256-gcm', toKey('seal'), iv).setAAD(Buffer.from(place))
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()])
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url')
    },
    open(sealed, place) {
      const bytes = Buffer.from(sealed, 'base64url')
      const tag = bytes.subarray(ivBytes, ivBytes + tagBytes)
      const decipher = createDecipheriv('aes-256-gcm', toKey('seal'), bytes.subarray(0, ivBytes), {
        authTagLength: tagBytes,
      })
      decipher.setAAD(Buffer.from(place)).setAuthTag(tag)
      return Buffer.concat([decipher.update(bytes.subarray(ivBytes + tagBytes)), decipher.final()]).toString('utf8')
    },
  }
}

const ivBytes = 12
const tagBytes = 16

export function sha256(value: string | Buffer): Buffer {
  return createHash('sha256').update(value).digest()
}

/** Compares in constant time, so that the duration does not reveal where two values differ. */
export function sameSecret(a: string, b: string): boolean {
  return timingSafeEqual(sha256(a), sha256(b))
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** 32 random alphanumerics after `prefix`: 190 bits. */
export function newToken(prefix: string): string {
  let token = ''
  while (token.length < 32) {
    // Bytes from 248 on are dropped: 256 is not a multiple of 62, so the first letters would occur more often.
    for (const byte of randomBytes(48)) if (byte < 248 && token.length < 32) token += alphabet[byte % 62]
  }
  return prefix + token
}

/** 32 alphanumerics derived from `bytes` alone. */
export function tokenFrom(prefix: string, bytes: Buffer): string {
  return prefix + Array.from(bytes.subarray(0, 32), (byte) => alphabet[byte % 62]).join('')
}
