import type { App } from '../context.ts'
import type { Executor } from '../db/executor.ts'
import type { RequestContext } from '../http/request-context.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { endSessions } from '../sessions/store.ts'
import { listProofs, removeConfig, saveConfig } from './credentials.ts'
import { type Person, type VerifiableAddress, verifyAddress } from './store.ts'

const words: Record<string, string> = {
  password: 'the password',
  oidc: 'accounts elsewhere',
  passkey: 'passkeys',
  totp: 'an authenticator app',
  lookup_secret: 'backup codes',
  webauthn: 'security keys',
}

/**
 * Somebody without a session has shown that the mail of an account's address is his. Where the account was signed up with that
 * address and nobody has ever proven it, who signed up may have been another: what they left to come in by goes with their sessions.
 * An address that replaced another is only verified: its account had an owner before.
 */
export async function claimAddress(
  tx: Executor,
  app: App,
  ctx: RequestContext,
  person: Person,
  address: VerifiableAddress,
): Promise<void> {
  const { id: identityId, createdAt } = person.identity
  await verifyAddress(tx, address.id)
  if (address.createdAt.getTime() !== createdAt.getTime()) return
  await endSessions(tx, { ofIdentity: identityId })
  const held = (await listProofs(tx, identityId)).map(({ type }) => type)
  // The row of the password stays, as for who never had one: the address finds it.
  for (const type of held)
    await (type === 'password' ? saveConfig(tx, identityId, type, {}) : removeConfig(tx, identityId, type))
  if (held.length === 0) return
  const factor = new Intl.ListFormat('en').format(held.map((type) => words[type] ?? type))
  await recordSecurityEvent(tx, app, ctx, person, { event: 'factor-removed', factor })
}
