import { isUuid } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { IdentityError, malformedUuid } from '../http/errors.ts'
import { linkHeader, readOffsetPage } from '../http/pages.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { requireHighestAal, requireSession } from './current.ts'
import { endSessions, listSessions as findSessions } from './store.ts'
import { tokenizeSession } from './tokenize.ts'
import { showListedSession, showSession } from './wire.ts'

/** The session endpoints of a signed-in user. */
export function sessionRoutes(app: App): Routes {
  return {
    '/sessions/whoami': { any: (ctx) => whoami(app, ctx) },
    '/sessions': { GET: (ctx) => listSessions(app, ctx), DELETE: (ctx) => endOthers(app, ctx) },
    '/sessions/:id': { DELETE: (ctx) => endOne(app, ctx) },
  }
}

async function whoami(app: App, ctx: RequestContext): Promise<unknown> {
  const current = await requireSession(app, ctx, 'No valid session credentials found in the request.')
  requireHighestAal(app, current)
  const template = ctx.query('tokenize_as')
  const tokenized = template ? { tokenized: await tokenizeSession(app, current, template) } : {}
  ctx.reply.header('x-kratos-authenticated-identity-id', current.user.id)
  return ctx.reply.send({ ...showSession(current, app), ...tokenized })
}

async function listSessions(app: App, ctx: RequestContext): Promise<unknown> {
  const current = await requireSession(app, ctx)
  const page = readOffsetPage(ctx)
  const filter = { identityId: current.identityId, except: current.id, active: true }
  const { entries, total } = await findSessions(app.database, filter, page)
  ctx.reply.header('link', linkHeader(ctx, page, total)).header('x-total-count', total)
  return ctx.reply.send(entries.map((session) => showListedSession(session, app)))
}

async function endOthers(app: App, ctx: RequestContext): Promise<unknown> {
  const session = await requireSession(app, ctx)
  const count = await app.database.transaction((tx) =>
    endSessions(tx, { ofIdentity: session.identityId, except: session.id }),
  )
  return ctx.reply.send({ count })
}

/** Ends another session of the same user. The answer is the same for sessions of other users, so it does not reveal them. */
async function endOne(app: App, ctx: RequestContext): Promise<unknown> {
  const session = await requireSession(app, ctx)
  const id = ctx.param('id')
  if (!isUuid(id)) throw malformedUuid(id)
  if (id.toLowerCase() === session.id) throw new IdentityError(400, { message: 'cannot revoke current session' })
  await app.database.transaction((tx) => endSessions(tx, { id, ofIdentity: session.identityId }))
  return ctx.reply.code(204).send()
}
