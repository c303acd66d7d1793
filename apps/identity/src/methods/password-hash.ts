import { type Algorithm, hash } from '@node-rs/argon2'
import type { PasswordHasher } from '../app/services.ts'
import { importedHash } from './imported-hash.ts'

/** argon2id with the minimum that OWASP recommends: 19 MiB, two passes, one lane. Runs off the event loop. */
const parameters = { algorithm: 2 satisfies Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 }
const ownPrefix = '$argon2id$v=19$m=19456,t=2,p=1$'

export async function createPasswordHasher(): Promise<PasswordHasher> {
  const dummyHash = await hash('no account has this password', parameters)
  return {
    hash: (password) => hash(password, parameters),
    async verify(hashed, password) {
      const check = importedHash(hashed ?? dummyHash)
      const matches = check !== undefined && (await check(password).catch(() => false))
      return matches && hashed !== undefined
    },
  }
}

/** Whether a hash comes from another system. It is replaced by our own after the next sign-in. */
export function isForeignHash(hashed: string): boolean {
  return !hashed.startsWith(ownPrefix)
}
