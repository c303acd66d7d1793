import { type App, uiUrl } from '../app/app.ts'
import { sameSecret, sha256, tokenFrom } from '../crypto/secrets.ts'
import { readBody, textField } from '../http/body.ts'
import { badRequest, IdentityError, sessionInactive } from '../http/errors.ts'
import type { RequestContext } from '../http/request-context.ts'
import { currentSession, type Signed } from '../sessions/current.ts'
import { endSessions, isKnownToken } from '../sessions/store.ts'
import { resolveReturnTo } from './return-to.ts'

/** Returns the address with which a browser signs out. */
export async function createLogout(app: App, ctx: RequestContext): Promise<unknown> {
  const returnTo = resolveReturnTo(ctx.query('return_to'), app.consoleUrl)
  const session = await currentSession(app, ctx)
  if (!session) throw sessionInactive()
  const token = logoutToken(app, session)
  const query = new URLSearchParams(returnTo === undefined ? { token } : { return_to: returnTo, token })
  return ctx.reply.send({ logout_token: token, logout_url: `${app.publicUrl}/self-service/logout?${query}` })
}

/** Signs the browser out. The token of the address is bound to the session, so that other sites cannot sign users out. */
export async function followLogout(app: App, ctx: RequestContext): Promise<unknown> {
  const token = ctx.query('token')
  if (!token) throw badRequest('Please include a token in the URL query.')
  const session = await currentSession(app, ctx)
  if (!session) throw sessionInactive()
  if (!sameSecret(token, logoutToken(app, session)))
    throw new IdentityError(403, {
      reason: 'Unable to log out because the logout token in the URL query does not match the session cookie.',
    })
  await app.database.transaction((tx) => endSessions(tx, { id: session.id }))
  ctx.clearSessionCookie()
  ctx.rotateCsrfToken()
  const returnTo = resolveReturnTo(ctx.query('return_to'), app.consoleUrl)
  if (ctx.wantsJson) return ctx.reply.code(204).send()
  return ctx.reply.redirect(returnTo ?? uiUrl(app, 'login'), 303)
}

/** Signs an API client out by its session token. */
export async function performLogout(app: App, ctx: RequestContext): Promise<unknown> {
  const body = readBody(ctx.request.body, ctx.request.headers['content-type'])
  if (!body.ok) throw badRequest(body.reason)
  const token = textField(body.fields, 'session_token')
  if (token === '' || !(await isKnownToken(app.database, token)))
    throw new IdentityError(403, {
      reason: 'The provided session token could not be found, is invalid, or otherwise malformed.',
    })
  await app.database.transaction((tx) => endSessions(tx, { tokenHash: sha256(token) }))
  return ctx.reply.code(204).send()
}

/** Derived from the session and the secret of the service: nothing has to be stored, and the token cannot be forged. */
function logoutToken(app: App, session: Signed): string {
  return tokenFrom('ory_lo_', app.keys.sign('logout', session.id, session.tokenHash.toString('hex')))
}
