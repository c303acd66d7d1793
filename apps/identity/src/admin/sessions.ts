import { isUuid } from '@crux/service-kit'
import { eq } from 'drizzle-orm'
import type { App } from '../app/app.ts'
import { sessions } from '../db/schema.ts'
import { badRequest, IdentityError, malformedUuid, noSuchRow } from '../http/errors.ts'
import { linkHeader, linkTo, readIdToken, readOffsetPage, readSize } from '../http/pages.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { schemaUrl, showBareIdentity, showIdentity } from '../identities/wire.ts'
import { endSessions, findSessionById, listSessions, sessionLifespanMs } from '../sessions/store.ts'
import { showBareSession, showDevice, showListedSession, showSession } from '../sessions/wire.ts'

/** Session endpoints for administrators, across all identities. */
export function adminSessionRoutes(app: App): Routes {
  return {
    '/admin/identities/:id/sessions': {
      GET: (ctx) => listOfIdentity(app, ctx),
      DELETE: (ctx) => deleteAllOfIdentity(app, ctx),
    },
    '/admin/sessions': { GET: (ctx) => listAll(app, ctx) },
    '/admin/sessions/:id': { GET: (ctx) => getOne(app, ctx), DELETE: (ctx) => endOne(app, ctx) },
    '/admin/sessions/:id/extend': { PATCH: (ctx) => extend(app, ctx) },
  }
}

async function listOfIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const identityId = readId(ctx)
  const page = readOffsetPage(ctx)
  const active = readActive(ctx)
  const { entries, total } = await listSessions(app.database, { identityId, active }, page)
  ctx.reply.header('link', linkHeader(ctx, page, total)).header('x-total-count', total)
  return ctx.reply.send(entries.map((session) => showListedSession(session, app)))
}

async function listAll(app: App, ctx: RequestContext): Promise<unknown> {
  const expand = readExpand(ctx)
  const size = readSize(ctx.query('page_size'))
  const after = readIdToken(ctx)
  const { entries, total } = await listSessions(app.database, { active: readActive(ctx), after }, { size, offset: 0 })
  const links = [linkTo(ctx, 'first', { page_size: String(size), page_token: '' })]
  const last = entries.at(-1)?.id
  if (entries.length === size && last) links.push(linkTo(ctx, 'next', { page_size: String(size), page_token: last }))
  ctx.reply.header('link', links.join(',')).header('x-total-count', total)
  return ctx.reply.send(
    entries.map((session) => ({
      ...showBareSession(session, app),
      identity: expand.has('identity') ? showBareIdentity(session.user, schemaUrl(app.publicUrl)) : null,
      devices: expand.has('devices') ? session.devices.map(showDevice) : null,
    })),
  )
}

async function getOne(app: App, ctx: RequestContext): Promise<unknown> {
  const expand = readExpand(ctx)
  const session = await findSessionById(app.database.db, readId(ctx))
  if (!session) throw noSuchRow()
  return ctx.reply.send({
    ...showBareSession(session, app),
    identity: expand.has('identity') ? showIdentity(session.user, app.publicUrl) : null,
    devices: expand.has('devices') ? session.devices.map(showDevice) : [],
  })
}

async function endOne(app: App, ctx: RequestContext): Promise<unknown> {
  const id = readId(ctx)
  if (!(await findSessionById(app.database.db, id))) throw noSuchRow()
  await app.database.transaction((tx) => endSessions(tx, { id }))
  return ctx.reply.code(204).send()
}

/** Extends a session to its full lifespan from now on. An ended session stays ended. */
async function extend(app: App, ctx: RequestContext): Promise<unknown> {
  const id = readId(ctx)
  const at = new Date()
  await app.database.db
    .update(sessions)
    .set({ expiresAt: new Date(at.getTime() + sessionLifespanMs), updatedAt: at })
    .where(eq(sessions.id, id))
  const session = await findSessionById(app.database.db, id)
  if (!session) throw noSuchRow()
  return ctx.reply.send({ ...showSession(session, app), devices: [] })
}

/** Ends and deletes all sessions of an identity. */
async function deleteAllOfIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const id = readId(ctx)
  const deleted = await app.database.transaction(async (tx) => {
    await endSessions(tx, { ofIdentity: id })
    return tx.delete(sessions).where(eq(sessions.identityId, id)).returning({ id: sessions.id })
  })
  if (deleted.length === 0) throw noSuchRow()
  return ctx.reply.code(204).send()
}

function readId(ctx: RequestContext): string {
  const id = ctx.param('id')
  if (!isUuid(id)) throw malformedUuid(id)
  return id
}

function readActive(ctx: RequestContext): boolean | undefined {
  const value = ctx.query('active')
  if (value === undefined || value === '') return undefined
  if (value === 'true' || value === 'false') return value === 'true'
  throw new IdentityError(400, { message: 'could not parse parameter active' })
}

function readExpand(ctx: RequestContext): ReadonlySet<string> {
  const names = ctx.queryValues('expand').map(String)
  const wrong = names.find((name) => !['identity', 'devices'].includes(name.toLowerCase()))
  if (wrong !== undefined) throw badRequest(`Could not parse expand option: ${wrong}`)
  return new Set(names.map((name) => name.toLowerCase()))
}
