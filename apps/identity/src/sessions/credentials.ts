import type { App } from '../app/app.ts'
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
