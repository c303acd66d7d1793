import { sql } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import { badRequest } from '../http/errors.ts'
import { listProofs } from '../identities/credentials.ts'

/** The number of sign-in methods of an identity: a password, each passkey, each linked provider, codes by mail. */
export async function countFirstFactors(app: App, db: Executor, identityId: string): Promise<number> {
  let count = app.verifiesAddresses ? 1 : 0
  for (const { type, config } of await listProofs(db, identityId)) {
    if (type === 'password' && typeof config.hashed_password === 'string') count += 1
    if (type === 'passkey' && Array.isArray(config.keys)) count += config.keys.length
    if (type === 'oidc' && Array.isArray(config.providers)) count += config.providers.length
  }
  return count
}

/**
 * Blocks concurrent deletions of the other sign-in methods until the transaction ends.
 *
 * @throws IdentityError 400 when there is no other one
 */
export async function requireAnotherFirstFactor(tx: Executor, app: App, identityId: string): Promise<void> {
  await tx.execute(sql`select 1 from identity.identities where id = ${identityId} for update`)
  if ((await countFirstFactors(app, tx, identityId)) < 2)
    throw badRequest('This is the last way to sign in, so it cannot be removed.')
}
