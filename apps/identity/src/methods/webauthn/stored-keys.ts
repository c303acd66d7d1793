import { z } from 'zod'
import type { Executor } from '../../db/database.ts'
import { findConfig } from '../../identities/credentials.ts'

const StoredKeySchema = z.object({
  /** The id of the credential and its public key (COSE), base64url. */
  id: z.string(),
  publicKey: z.string(),
  counter: z.number(),
  transports: z.array(z.string()),
  name: z.string(),
  addedAt: z.string(),
})
const KeysConfig = z.object({ userHandle: z.string(), keys: z.array(StoredKeySchema) })

export type StoredKey = z.output<typeof StoredKeySchema>
/** The security keys or passkeys of an identity. Passkeys name their user by `userHandle`. */
export type StoredKeys = z.output<typeof KeysConfig>

export type KeyType = 'webauthn' | 'passkey'

export async function findKeys(
  tx: Executor,
  identityId: string,
  type: KeyType,
  options: { lock?: boolean } = {},
): Promise<StoredKeys | undefined> {
  const config = await findConfig(tx, identityId, type, options)
  return config && KeysConfig.parse(config)
}

/** The name of a key in the buttons that delete it: its id in hexadecimal. */
export function keyName({ id }: StoredKey): string {
  return Buffer.from(id, 'base64url').toString('hex')
}
