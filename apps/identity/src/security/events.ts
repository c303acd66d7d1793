import { and, desc, eq, inArray } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import type { Executor } from '../db/database.ts'
import { newId } from '../db/ids.ts'
import { type SecurityEvent, securityLog } from '../db/schema.ts'
import type { RequestContext } from '../http/request-context.ts'
import { normalizeIdentifier } from '../identities/identity-schema.ts'
import type { Identity } from '../identities/store.ts'
import { getEmail } from '../identities/traits.ts'
import { type Notice, noticeMail } from '../mail/notices.ts'

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
type Notifier = Pick<App, 'sendsMail' | 'verifiesAddresses' | 'consoleUrl'> & {
  outbox: Pick<App['outbox'], 'enqueue'>
}

/**
 * Records an event of an account and, where it changes who can sign in, notifies its owner by mail, all within the transaction of the caller. The
 * caller wakes the outbox after the commit.
 *
 * @param options.id of an event that may be reported twice: the second report has no effect
 */
export async function recordSecurityEvent(
  tx: Executor,
  app: Notifier,
  ctx: Pick<RequestContext, 'clientAddress' | 'userAgent'>,
  user: Identity,
  what: SecurityEvent,
  { id = newId() }: { id?: string } = {},
): Promise<void> {
  const { clientAddress, userAgent } = ctx
  // This runs before the event is in the log, because a sign-in is compared with previous ones.
  const notices = app.sendsMail ? await listNotices(tx, app, user, userAgent, what) : []
  const { event, ...details } = what
  const written = await tx
    .insert(securityLog)
    .values({ id, identityId: user.id, event, details, ipAddress: clientAddress, userAgent })
    .onConflictDoNothing()
    .returning({ id: securityLog.id })
  if (written.length > 0) {
    const now = { consoleUrl: app.consoleUrl, clientAddress, time: new Date() }
    for (const { recipient, notice } of notices) await app.outbox.enqueue(tx, noticeMail(recipient, notice, now))
  }
}

async function listNotices(
  tx: Executor,
  app: Notifier,
  user: Identity,
  userAgent: string,
  what: SecurityEvent,
): Promise<{ recipient: string; notice: Notice }[]> {
  const recipient = normalizeIdentifier(getEmail(user.traits))
  switch (what.event) {
    case 'signed-up':
    case 'confirmed':
    case 'recovered':
      return []
    case 'signed-in':
      return (await isNewDevice(tx, user.id, userAgent))
        ? [{ recipient, notice: { event: 'new-device', userAgent } }]
        : []
    case 'address-changed':
      // The new address gets a verification mail, which is sufficient.
      return (app.verifiesAddresses ? [what.from] : [what.from, what.to]).map((address) => ({
        recipient: normalizeIdentifier(address),
        notice: what,
      }))
    default:
      return [{ recipient, notice: what }]
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
  return rows.length > 0 && !rows.some((row) => toKind(row.userAgent) === toKind(userAgent))
}

/** Versions are ignored, because updates do not make a new device. */
function toKind(userAgent: string): string {
  return userAgent.replaceAll(/[\d._]+/g, '')
}
