import type { App } from '../app/app.ts'
import { aal2Required, noCredentials } from '../http/errors.ts'
import { type RequestContext, sessionCookieName } from '../http/request-context.ts'
import { findSession, type SessionDetails } from './store.ts'

/**
 * The session token of a request: `X-Session-Token`, then the cookie, then `Authorization: Bearer`. The first one that is present is used, so a valid
 * cookie does not replace an invalid header.
 */
function sessionToken(ctx: RequestContext): string | undefined {
  const header = ctx.request.headers['x-session-token']
  if (typeof header === 'string' && header !== '') return header
  const cookie = ctx.cookie(sessionCookieName)
  if (cookie) return cookie
  return /^bearer +(\S+)$/i.exec(ctx.request.headers.authorization ?? '')?.[1]
}

export interface Signed extends SessionDetails {
  token: string
  /** The user has a second factor. Until this session has proven it, the session has few rights. */
  secondFactor: boolean
}

/** The session of the request; undefined without an active one. */
export async function currentSession(app: App, ctx: RequestContext): Promise<Signed | undefined> {
  const token = sessionToken(ctx)
  if (token === undefined || token.length > 200) return undefined
  const details = await findSession(app.database, token)
  return details && { ...details, token }
}

/** @throws IdentityError 401 without an active session */
export async function requireSession(
  app: App,
  ctx: RequestContext,
  reason = 'No valid session cookie found.',
): Promise<Signed> {
  const current = await currentSession(app, ctx)
  if (!current) throw noCredentials(reason)
  return current
}

/** Whether the user has a second factor that this session has not proven. */
export function lacksSecondFactor({ aal, secondFactor }: Pick<Signed, 'aal' | 'secondFactor'>): boolean {
  return secondFactor && aal !== 'aal2'
}

/** The address at which a browser proves the second factor. */
export function secondFactorUrl(app: App, returnTo?: string): string {
  const query = new URLSearchParams({ aal: 'aal2', ...(returnTo === undefined ? {} : { return_to: returnTo }) })
  return `${app.publicUrl}/self-service/login/browser?${query}`
}

/**
 * Refuses a session without the second factor of a user who has one.
 *
 * @throws IdentityError 403 `session_aal2_required`, with the address to go to
 */
export function requireHighestAal(app: App, session: Signed, returnTo?: string): void {
  if (lacksSecondFactor(session)) throw aal2Required(secondFactorUrl(app, returnTo))
}
