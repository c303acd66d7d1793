import { and, desc, eq, inArray } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import type { Executor } from '../db/executor.ts'
import { newId } from '../db/ids.ts'
import { securityLog } from '../db/schema.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import type { Person } from '../identities/store.ts'
import { emailOf } from '../identities/traits.ts'
import { type Notice, noticeMail } from '../mail/notices.ts'

/** The events in the security log of a user. They contain no secrets. */
export type SecurityEvent =
  /** `provider`: the provider of the account that was used. */
  | { event: 'signed-up' | 'signed-in' | 'confirmed' | 'recovered'; method: string; provider?: string }
  | { event: 'password-changed' }
  | { event: 'address-changed'; from: string; to: string }
  /** `factor` as in UI texts: "an authenticator app". */
  | { event: 'factor-added' | 'factor-removed'; factor: string }
  | TokenEvent

/** The events about API tokens that the server reports, because it stores the tokens. */
export type TokenEvent =
  | { event: 'token-created' | 'token-revoked'; name: string; scope?: string }
  | { event: 'tokens-revoked'; count: number }

const factorNames: Record<string, string> = {
  password: 'the password',
  oidc: 'accounts elsewhere',
  passkey: 'passkeys',
  totp: 'an authenticator app',
  lookup_secret: 'backup codes',
  webauthn: 'security keys',
}

/** The name of a type of credential in mails and in the security log. */
export const toFactorName = (type: string): string => factorNames[type] ?? type

/** The dependencies that a notification of a user needs. */
type Teller = Pick<App, 'sendsMail' | 'verifiesAddresses' | 'consoleUrl'> & { outbox: Pick<App['outbox'], 'enqueue'> }

/**
 * Records an event of an account and, where it changes who can sign in, notifies its owner by mail, all within the transaction of the caller. The
 * caller wakes the outbox after the commit.
 *
 * @param options.id of an event that may be reported twice: the second report has no effect
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
  // This runs before the event is in the log, because a sign-in is compared with previous ones.
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
      // The new address gets a verification mail, which is sufficient.
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

/** Whether the account has earlier sign-ins, but none with such a program. */
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

/** Versions are ignored, because updates do not make a new device. */
function kindOf(userAgent: string): string {
  return userAgent.replaceAll(/[\d._]+/g, '')
}
