import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import type { RequestContext } from '../http/request-context.ts'
import { listProofs, removeConfig, saveConfig } from '../identities/credentials.ts'
import { type User, type VerifiableAddress, verifyAddress } from '../identities/store.ts'
import { endSessions } from '../sessions/store.ts'
import { recordSecurityEvent, toFactorName } from './events.ts'

/**
 * A user without a session has proven to own the address of an account. If the account was created with this address and the address was never
 * verified, somebody else may have created it, so its credentials and sessions are deleted. An address that replaced another one is only verified,
 * because its account had an owner before.
 */
export async function claimAddress(
  tx: Executor,
  app: App,
  ctx: RequestContext,
  user: User,
  address: VerifiableAddress,
): Promise<void> {
  const { id: identityId, createdAt } = user
  await verifyAddress(tx, address.id)
  if (address.createdAt.getTime() !== createdAt.getTime()) return
  await endSessions(tx, { ofIdentity: identityId })
  const held = (await listProofs(tx, identityId)).map(({ type }) => type)
  // The row of the password stays, because it holds the identifier of the address.
  for (const type of held)
    await (type === 'password' ? saveConfig(tx, identityId, type, {}) : removeConfig(tx, identityId, type))
  if (held.length === 0) return
  const factor = new Intl.ListFormat('en').format(held.map(toFactorName))
  await recordSecurityEvent(tx, app, ctx, user, { event: 'factor-removed', factor })
}
