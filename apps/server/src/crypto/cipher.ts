import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** Secrets at rest. The text names its key: `v1.<key id>.<nonce>.<ciphertext and tag>`, base64url. */
export interface Cipher {
  encrypt(text: string): string
  /** @throws when the key is unknown or the text was changed */
  decrypt(sealed: string): string
  /** The same secret under the current key; undefined when it is already. */
  reseal(sealed: string): string | undefined
}

/**
 * AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce for every text.
 *
 * @param keys.key 32 bytes in base64url, seals and opens
 * @param keys.deprecatedKey only opens, while a rotation is under way
 */
export function createCipher(keys: { key: string; deprecatedKey?: string | undefined }): Cipher {
  const current = readKey(keys.key)
  const known = [current, ...(keys.deprecatedKey ? [readKey(keys.deprecatedKey)] : [])]

  function encrypt(text: string): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce)
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return ['v1', current.id, nonce.toString('base64url'), sealed.toString('base64url')].join('.')
  }

  function decrypt(sealed: string): string {
    const [version, id, nonce = '', body = ''] = sealed.split('.')
    const key = known.find((candidate) => candidate.id === id)
    if (version !== 'v1' || !key) throw new Error('a stored secret is sealed with a key that is not configured')
    const bytes = Buffer.from(body, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
    decipher.setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
  }

  return {
    encrypt,
    decrypt,
    reseal: (sealed) => (sealed.split('.')[1] === current.id ? undefined : encrypt(decrypt(sealed))),
  }
}

export const generateKey = (): string => randomBytes(32).toString('base64url')

/** The id tells keys apart and says nothing of the key: the head of a hash over 256 random bits. */
function readKey(text: string) {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 32) throw new Error('an encryption key has 32 bytes')
  return { bytes, id: createHash('sha256').update('crux key id').update(bytes).digest('base64url').slice(0, 8) }
}
