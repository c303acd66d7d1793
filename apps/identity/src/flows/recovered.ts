import { eq, sql } from 'drizzle-orm'
import { uiUrl } from '../app/app.ts'
import { type Flow, identities } from '../db/schema.ts'
import { IdentityError, identityDisabled, locationChangeRequired } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { findUser, publishIdentity } from '../identities/store.ts'
import { rememberDevice } from '../limits/known-devices.ts'
import { claimAddress } from '../security/claim.ts'
import { recordSecurityEvent } from '../security/events.ts'
import { lacksSecondFactor } from '../sessions/current.ts'
import { findSession, openSession } from '../sessions/store.ts'
import { messages } from '../ui/messages.ts'
import { answerFlow } from './answer.ts'
import type { FlowApp } from './offered-methods.ts'
import { insertSettings, privilegedForMs } from './settings.ts'
import { updateFlow } from './store.ts'

/**
 * Signs in a user who has proven to own the address, and redirects them to the settings to choose a new password. Other sessions stay active.
 *
 * @throws IdentityError 401 for a disabled or deleted identity
 */
export async function completeRecovery(
  app: FlowApp,
  ctx: RequestContext,
  flow: Flow,
  proven: { identityId: string | null; addressId: string | null; method: 'code_recovery' | 'link_recovery' },
): Promise<unknown> {
  const user = proven.identityId === null ? undefined : await findUser(app.database.db, proven.identityId)
  if (user?.state !== 'active') throw identityDisabled()
  const { token } = await app.database.transaction(async (tx) => {
    const address = user.verifiable.find(({ id }) => id === proven.addressId)
    if (address && !address.verified) await claimAddress(tx, app, ctx, user, address)
    await updateFlow(tx, flow, { state: 'passed_challenge', ui: { ...flow.ui, messages: [] } })
    await tx.update(identities).set({ recoveredAt: sql`now()` }).where(eq(identities.id, user.id))
    await publishIdentity(tx, user.id)
    const opened = await openSession(tx, ctx, user.id, proven)
    await recordSecurityEvent(tx, app, ctx, user, { event: 'recovered', method: proven.method })
    return opened
  })
  app.outbox.wake()
  const details = await findSession(app.database, token)
  if (!details) throw new IdentityError(401, { reason: 'This account was disabled meanwhile.' })
  // A link is always opened in a browser, also when an API client requested it.
  const type = proven.method === 'link_recovery' ? 'browser' : flow.type
  if (type === 'browser') {
    ctx.rotateCsrfToken()
    ctx.setSessionCookie(token, details.expiresAt)
    if (!lacksSecondFactor(details)) rememberDevice(app.keys, ctx, user.id)
  }
  const until = new Date(details.authenticatedAt.getTime() + privilegedForMs)
  const settings = await insertSettings(app, {
    type,
    session: { ...details, token },
    requestUrl: getRequestUrl(ctx, flow),
    returnTo: flow.returnTo,
    ctx,
    said: [messages.recovered(until)],
  })
  if (type === 'api') {
    // Ory Kratos returns only an address for browsers to an API client here.
    const done = { ...flow, state: 'passed_challenge' as const, ui: { ...flow.ui, messages: [] } }
    const steps = [
      { action: 'set_ory_session_token', ory_session_token: token },
      { action: 'show_settings_ui', flow: { id: settings.id } },
    ]
    return answerFlow(app, ctx, done, { continueWith: steps })
  }
  const target = uiUrl(app, 'settings', { flow: settings.id })
  if (proven.method === 'code_recovery' && ctx.wantsJson) throw locationChangeRequired(target)
  return ctx.reply.redirect(target, 303)
}

/** The address that led to the settings, with its return address. */
function getRequestUrl(ctx: RequestContext, flow: Flow): string {
  const url = new URL(ctx.url)
  if (flow.returnTo !== null) url.searchParams.set('return_to', flow.returnTo)
  url.searchParams.sort()
  return url.href
}
