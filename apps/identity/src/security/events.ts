import { and, desc, eq, inArray } from 'drizzle-orm'
import type { App } from '../context.ts'
import type { Executor } from '../db/executor.ts'
import { newId } from '../db/ids.ts'
import { securityLog } from '../db/schema.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import type { Person } from '../identities/store.ts'
import { emailOf } from '../identities/traits.ts'
import { type Notice, noticeMail } from '../mail/notices.ts'

/** What a person finds in their security log. Secrets are in none of it. */
export type SecurityEvent =
  /** `provider`: where the account is that it was done with. */
  | { event: 'signed-up' | 'signed-in' | 'confirmed' | 'recovered'; method: string; provider?: string }
  | { event: 'password-changed' }
  | { event: 'address-changed'; from: string; to: string }
  /** `factor` in the words of the person: "an authenticator app". */
  | { event: 'factor-added' | 'factor-removed'; factor: string }
  | TokenEvent

/** What the server reports about API tokens, which it keeps. */
export type TokenEvent =
  | { event: 'token-created' | 'token-revoked'; name: string; scope?: string }
  | { event: 'tokens-revoked'; count: number }

/** What is needed of the service to tell somebody something. */
type Teller = Pick<App, 'sendsMail' | 'verifiesAddresses' | 'consoleUrl'> & { outbox: Pick<App['outbox'], 'enqueue'> }

/**
 * Writes down what happened to an account and, where it changes who can get in, tells its owner by mail: all with the
 * caller's transaction. The caller wakes the outbox after the commit.
 *
 * @param options.id of an event that may be reported twice: the second time nothing happens
 */
export async function recordSecurityEvent(
  tx: Executor,
  app: Teller,
  ctx: Pick<RequestContext, 'clientAddress' | 'userAgent'>,
  person: Pick<Person, 'identity'>,
  what: SecurityEvent,
  { id = newId() }: { id?: string } = {},
): Promise<void> {
  const { identity } = person
  const { clientAddress, userAgent } = ctx
  // Before the event itself is in the log: a sign-in is compared with those before it.
  const notices = app.sendsMail ? await noticesOf(tx, app, person, userAgent, what) : []
  const { event, ...details } = what
  const written = await tx
    .insert(securityLog)
    .values({ id, identityId: identity.id, event, details, ipAddress: clientAddress, userAgent })
    .onConflictDoNothing()
    .returning({ id: securityLog.id })
  if (written.length > 0) {
    const now = { consoleUrl: app.consoleUrl, clientAddress, time: new Date() }
    for (const { recipient, notice } of notices) await app.outbox.enqueue(tx, noticeMail(recipient, notice, now))
  }
}

async function noticesOf(
  tx: Executor,
  app: Teller,
  { identity }: Pick<Person, 'identity'>,
  userAgent: string,
  what: SecurityEvent,
): Promise<{ recipient: string; notice: Notice }[]> {
  const recipient = normalizeIdentifier(emailOf(identity.traits))
  switch (what.event) {
    case 'password-changed':
      return [{ recipient, notice: { what: 'password-changed' } }]
    case 'factor-added':
    case 'factor-removed':
      return [{ recipient, notice: { what: what.event, factor: what.factor } }]
    case 'token-created':
    case 'token-revoked':
      return [{ recipient, notice: { what: what.event, name: what.name } }]
    case 'tokens-revoked':
      return [{ recipient, notice: { what: what.event, count: what.count } }]
    case 'address-changed': {
      const notice: Notice = { what: 'address-changed', from: what.from, to: what.to }
      // The new one is asked to be verified, which tells enough.
      const told = app.verifiesAddresses ? [what.from] : [what.from, what.to]
      return told.map((address) => ({ recipient: normalizeIdentifier(address), notice }))
    }
    case 'signed-in':
      return (await isNewDevice(tx, identity.id, userAgent))
        ? [{ recipient, notice: { what: 'new-device', userAgent } }]
        : []
    default:
      return []
  }
}

const remembered = 500

/** Whether nobody has signed in to this account with such a program before, but with others. */
async function isNewDevice(tx: Executor, identityId: string, userAgent: string): Promise<boolean> {
  const rows = await tx
    .select({ userAgent: securityLog.userAgent })
    .from(securityLog)
    .where(
      and(
        eq(securityLog.identityId, identityId),
        inArray(securityLog.event, ['signed-up', 'signed-in', 'recovered', 'confirmed']),
      ),
    )
    .orderBy(desc(securityLog.id))
    .limit(remembered)
  return rows.length > 0 && !rows.some((row) => kindOf(row.userAgent) === kindOf(userAgent))
}

/** Versions change by themselves and make no other device. */
function kindOf(userAgent: string): string {
  return userAgent.replaceAll(/[\d._]+/g, '')
}
