import type { Database } from '../db/database.ts'
import { findOwner, removeSecondFactors } from '../identities/credentials.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import { findUser } from '../identities/store.ts'
import { enqueueMail } from '../mail/outbox.ts'
import { endSessions } from '../sessions/store.ts'
import { recordSecurityEvent, toFactorName } from './events.ts'

/**
 * Deletes all second factors of a user who lost them, notifies them by mail, and ends their sessions: a session that lacked the factor would
 * otherwise get full access at once, even if an attacker holds it.
 *
 * @returns the deleted factors as UI texts; undefined when no user has the address
 */
export async function resetFactors(
  installation: { database: Database; consoleUrl: string; sendsMail: boolean },
  email: string,
): Promise<{ removed: string[]; sessionsEnded: number } | undefined> {
  const { database, consoleUrl, sendsMail } = installation
  return database.transaction(async (tx) => {
    const identityId = await findOwner(tx, 'password', normalizeIdentifier(email))
    const user = identityId === undefined ? undefined : await findUser(tx, identityId)
    if (identityId === undefined || !user) return undefined
    const removed = (await removeSecondFactors(tx, identityId)).map(toFactorName)
    if (removed.length === 0) return { removed, sessionsEnded: 0 }
    const mail = { sendsMail, verifiesAddresses: sendsMail, consoleUrl, outbox: { enqueue: enqueueMail } }
    const administrator = { clientAddress: '', userAgent: 'an administrator of this Crux' }
    for (const factor of removed)
      await recordSecurityEvent(tx, mail, administrator, user, { event: 'factor-removed', factor })
    return { removed, sessionsEnded: await endSessions(tx, { ofIdentity: identityId }) }
  })
}
