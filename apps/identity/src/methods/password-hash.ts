import { type Algorithm, hash, verify } from '@node-rs/argon2'

/** argon2id as OWASP recommends at least: 19 MiB, two passes, one lane. Runs off the event loop. */
const parameters = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }

export interface PasswordHasher {
  hash(password: string): Promise<string>
  /**
   * Whether `password` belongs to `hashed`. Without a hash a stand-in is checked: an account that does not exist takes
   * as long as one that does.
   */
  verify(hashed: string | undefined, password: string): Promise<boolean>
}

export async function createPasswordHasher(): Promise<PasswordHasher> {
  const standIn = await hash('no account has this password', parameters)
  return {
    hash: (password) => hash(password, parameters),
    async verify(hashed, password) {
      const matches = await verify(hashed ?? standIn, password).catch(() => false)
      return matches && hashed !== undefined
    },
  }
}
