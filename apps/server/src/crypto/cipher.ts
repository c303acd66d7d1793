import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'

/** The storage location of a secret. */
export type SecretLocation = {
  column:
    | 'registry.token'
    | 'registry_hook.secret'
    | 'storage.access_key'
    | 'storage.secret_key'
    | 'node_token.next_token'
    | 'node_install.token'
    | 'node_update.token'
    | 'notification.url'
    | 'notification.secret'
    | 'job.invitation_mail'
  /** The key of the row. */
  row: string
}

/** Encrypts stored secrets. The text names its key: `v1.<key id>.<nonce>.<ciphertext and tag>`, base64url. */
export interface Cipher {
  encrypt(text: string, location: SecretLocation): string
  /** @throws when the key is unknown, the text was changed, or it was encrypted for another row or column */
  decrypt(sealed: string, location: SecretLocation): string
  /** The same secret under the current key; undefined when it already is. */
  reseal(sealed: string, location: SecretLocation): string | undefined
}

/**
 * AES-256-GCM (NIST SP 800-38D) with a random 96-bit nonce for every text. The location is additional data: a user
 * who can write to the database but has no key cannot make Crux use the secret of one row for another.
 *
 * @param keys.key 32 bytes in base64url, encrypts and decrypts
 * @param keys.deprecatedKey only decrypts, during a rotation
 */
export function createCipher(keys: { key: string; deprecatedKey?: string | undefined }): Cipher {
  const current = readKey(keys.key)
  const known = [current, ...(keys.deprecatedKey ? [readKey(keys.deprecatedKey)] : [])]

  function encrypt(text: string, location: SecretLocation): string {
    const nonce = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', current.bytes, nonce).setAAD(additionalData(location))
    const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return ['v1', current.id, nonce.toString('base64url'), sealed.toString('base64url')].join('.')
  }

  function decrypt(sealed: string, location: SecretLocation): string {
    const [version, id, nonce = '', body = ''] = sealed.split('.')
    const key = known.find((candidate) => candidate.id === id)
    if (version !== 'v1' || !key) throw new Error('a stored secret is sealed with a key that is not configured')
    const bytes = Buffer.from(body, 'base64url')
    const decipher = createDecipheriv('aes-256-gcm', key.bytes, Buffer.from(nonce, 'base64url'), { authTagLength: 16 })
    decipher.setAAD(additionalData(location)).setAuthTag(bytes.subarray(-16))
    return Buffer.concat([decipher.update(bytes.subarray(0, -16)), decipher.final()]).toString('utf8')
  }

  return {
    encrypt,
    decrypt,
    reseal: (sealed, location) =>
      sealed.split('.')[1] === current.id ? undefined : encrypt(decrypt(sealed, location), location),
  }
}

const additionalData = ({ column, row }: SecretLocation) => Buffer.from(JSON.stringify(['crux', column, row]))

export const generateKey = (): string => randomBytes(32).toString('base64url')

/** The id distinguishes keys and reveals nothing of the key: the first bytes of a hash over 256 random bits. */
function readKey(text: string) {
  const bytes = Buffer.from(text, 'base64url')
  if (bytes.length !== 32) throw new Error('an encryption key has 32 bytes')
  return { bytes, id: createHash('sha256').update('crux key id').update(bytes).digest('base64url').slice(0, 8) }
}
