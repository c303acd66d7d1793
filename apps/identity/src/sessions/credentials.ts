import type { App } from '../context.ts'
import { type RequestContext, sessionCookieName } from '../http/request-context.ts'
import { findSession, type SessionDetails } from './store.ts'

/**
 * The session token of a request: `X-Session-Token`, then the cookie, then `Authorization: Bearer`. The first that is
 * there decides, so a bad header is not healed by a good cookie.
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
  /** The person has a second factor: until this session has proven one, it is good for little. */
  secondFactor: boolean
}

/** Who asks; undefined without a living session. */
export async function currentSession(app: App, ctx: RequestContext): Promise<Signed | undefined> {
  const token = sessionToken(ctx)
  if (token === undefined || token.length > 200) return undefined
  const details = await findSession(app.database, token)
  return details && { ...details, token }
}
