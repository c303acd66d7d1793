import { isUuid } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { isObject } from '../http/body.ts'
import { badRequest, noSuchRow } from '../http/errors.ts'
import { linkTo, readIdToken, readNumber, readSize } from '../http/pages.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { findUser, type User } from '../identities/store.ts'
import { showIdentity } from '../identities/wire.ts'
import { endSessions } from '../sessions/store.ts'
import { deleteCredential } from './credentials.ts'
import { type IdentityBody, parseJson, readIdentityBody, readState, readTraits } from './identity-body.ts'
import { makeIdentities, makeIdentity, orConflict, toHash } from './identity-create.ts'
import {
  type Credential,
  countUsers,
  deleteUser,
  type ListFilter,
  listCredentials,
  listUsers,
  updateUser,
} from './identity-store.ts'
import { applyPatch } from './json-patch.ts'

export function identityRoutes(app: App): Routes {
  return {
    '/admin/identities': {
      GET: (ctx) => listIdentities(app, ctx),
      POST: (ctx) => createIdentity(app, ctx),
      PATCH: (ctx) => makeIdentities(app, ctx),
    },
    '/admin/identities/:id': {
      GET: (ctx) => getIdentity(app, ctx),
      PUT: (ctx) => replaceIdentity(app, ctx),
      PATCH: (ctx) => patchIdentity(app, ctx),
      DELETE: (ctx) => deleteIdentity(app, ctx),
    },
    '/admin/identities/:id/credentials/:type': {
      DELETE: async (ctx) => deleteCredential(app, ctx, await requireUser(app, ctx)),
    },
  }
}

const firstToken = '00000000-0000-0000-0000-000000000000'

async function listIdentities(app: App, ctx: RequestContext): Promise<unknown> {
  refuseCredentials(ctx)
  const filter = readFilter(ctx)
  const byNumber = ctx.query('page') !== undefined || ctx.query('per_page') !== undefined
  const users = byNumber ? await numberedPage(app, ctx, filter) : await tokenPage(app, ctx, filter)
  if (!filter || 'ids' in filter)
    return ctx.reply.send(users.map((user) => showForAdmin(app, user, { metadataAdmin: 'always' })))
  const credentials = await listCredentials(
    app.database.db,
    users.map(({ id }) => id),
  )
  const shown = users.map((user) =>
    showForAdmin(app, user, { metadataAdmin: 'always', credentials: credentials.get(user.id) ?? [] }),
  )
  return ctx.reply.send(shown)
}

/** The timestamp is sent as a header because the body has to match that of Ory Kratos. */
const recoveredAtHeader = 'x-crux-recovered-at'

async function getIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  refuseCredentials(ctx)
  const user = await requireUser(app, ctx)
  const { recoveredAt } = user
  if (recoveredAt) ctx.reply.header(recoveredAtHeader, recoveredAt.toISOString())
  return ctx.reply.send(await showDetails(app, user))
}

/** Secrets of credentials are never sent to a client, so a request that includes them is refused. */
function refuseCredentials(ctx: RequestContext): void {
  if (ctx.queryValues('include_credential').length > 0)
    throw badRequest('This service never shows credentials: `include_credential` is not supported.')
}

/** Pages continue after the id of the last identity of the previous page, so new identities cannot shift them. */
async function tokenPage(app: App, ctx: RequestContext, filter: ListFilter): Promise<User[]> {
  const asked = ctx.query('page_size')
  const wanted = filter && 'ids' in filter && asked === undefined ? filter.ids.length : 0
  const size = Math.max(readSize(asked), wanted)
  const after = readIdToken(ctx) ?? firstToken
  const found = await listUsers(app.database, filter, { size: size + 1, after })
  const users = found.slice(0, size)
  const links = [linkTo(ctx, 'first', { page_size: String(size), page_token: firstToken })]
  const last = users.at(-1)?.id
  if (found.length > size && last) links.push(linkTo(ctx, 'next', { page_size: String(size), page_token: last }))
  ctx.reply.header('link', links.join(','))
  return users
}

async function numberedPage(app: App, ctx: RequestContext, filter: ListFilter): Promise<User[]> {
  const size = readSize(ctx.query('per_page'))
  const page = readNumber(ctx.query('page') ?? '0')
  const total = await countUsers(app.database)
  const last = Math.max(0, Math.ceil(total / size) - 1)
  const to = (rel: string, number: number) => linkTo(ctx, rel, { page: String(number), per_page: String(size) })
  const links = [to('first', 0)]
  if (page < last) links.push(to('next', page + 1))
  if (page > 0) links.push(to('prev', page - 1))
  links.push(to('last', last))
  ctx.reply.header('link', links.join(',')).header('x-total-count', total)
  return listUsers(app.database, filter, { size, offset: page * size })
}

function readFilter(ctx: RequestContext): ListFilter {
  const identifier = ctx.query('credentials_identifier') || undefined
  const similar = ctx.query('preview_credentials_identifier_similar') || undefined
  const given = ctx.queryValues('ids')
  if (identifier !== undefined && similar !== undefined)
    throw badRequest('Cannot pass both credentials_identifier and preview_credentials_identifier_similar.')
  if (given.length > 0 && given[0] !== '') {
    const ids = given.map(String).flatMap((entry) => entry.split(','))
    if (ids.length > 1_000) throw badRequest('At most 1000 ids can be asked for at once.')
    const wrong = ids.find((id) => !isUuid(id))
    if (wrong !== undefined) throw badRequest(`Invalid UUID value \`${wrong}\` for parameter \`ids\`.`)
    return { ids }
  }
  if (identifier !== undefined) return { identifier }
  return similar === undefined ? undefined : { similar }
}

async function createIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const body = readIdentityBody(parseJson(ctx.request.body), { strict: true })
  const user = await makeIdentity(app, body, 'This identity conflicts with another identity that already exists.')
  const base = `http://${ctx.request.headers.host ?? 'localhost'}`
  return ctx.reply
    .code(201)
    .header('location', `${base}/identities/${user.id}`)
    .send(await showDetails(app, user, 'when set'))
}

async function replaceIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const user = await requireUser(app, ctx)
  const value = parseJson(ctx.request.body)
  const body = readIdentityBody(value, { strict: false })
  const stateGiven = isObject(value) ? value.state : undefined
  const state = stateGiven === undefined || stateGiven === '' ? user.state : body.state
  return ctx.reply.send(await save(app, user, { ...body, state }, 'when set'))
}

async function patchIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const user = await requireUser(app, ctx)
  const patched = applyPatch(
    {
      state: user.state,
      traits: user.traits,
      metadata_public: user.metadataPublic,
      metadata_admin: user.metadataAdmin,
    },
    parseJson(ctx.request.body),
  )
  const change: IdentityBody = {
    traits: readTraits(patched.traits),
    state: readState(patched.state),
    metadataPublic: patched.metadata_public ?? null,
    metadataAdmin: patched.metadata_admin ?? null,
  }
  return ctx.reply.send(await save(app, user, change, 'always'))
}

async function save(app: App, user: User, body: IdentityBody, shown: MetadataAdmin): Promise<unknown> {
  const passwordHash = await toHash(app, body)
  const { traits, state, metadataPublic, metadataAdmin } = body
  await orConflict(
    app.database.transaction(async (tx) => {
      await updateUser(
        tx,
        user,
        { traits, state, metadataPublic, metadataAdmin },
        { verified: body.verified ?? (app.assumesAddresses && 'assumed'), passwordHash },
      )
      if (state === 'inactive') await endSessions(tx, { ofIdentity: user.id })
    }),
  )
  const saved = await findUser(app.database.db, user.id)
  if (!saved) throw noSuchRow()
  return showDetails(app, saved, shown)
}

async function deleteIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const id = ctx.param('id')
  if (!isUuid(id)) throw noSuchRow()
  const deleted = await app.database.transaction(async (tx) => {
    await endSessions(tx, { ofIdentity: id })
    return deleteUser(tx, id)
  })
  if (!deleted) throw noSuchRow()
  return ctx.reply.code(204).send()
}

export async function requireUser(app: App, ctx: RequestContext): Promise<User> {
  const id = ctx.param('id')
  const user = isUuid(id) ? await findUser(app.database.db, id) : undefined
  if (!user) throw noSuchRow()
  return user
}

type MetadataAdmin = 'always' | 'when set'

async function showDetails(app: App, user: User, metadataAdmin: MetadataAdmin = 'always'): Promise<unknown> {
  const found = await listCredentials(app.database.db, [user.id])
  return showForAdmin(app, user, { metadataAdmin, credentials: found.get(user.id) ?? [] })
}

function showForAdmin(app: App, user: User, options: { metadataAdmin: MetadataAdmin; credentials?: Credential[] }) {
  const { metadataAdmin = null } = user
  return {
    ...showIdentity(user, app.publicUrl),
    ...(metadataAdmin === null && options.metadataAdmin === 'when set' ? {} : { metadata_admin: metadataAdmin }),
    ...(options.credentials
      ? { credentials: Object.fromEntries(options.credentials.map((entry) => [entry.type, showCredential(entry)])) }
      : {}),
  }
}

function showCredential(entry: Credential) {
  return {
    type: entry.type,
    identifiers: entry.identifiers,
    version: entry.version,
    created_at: entry.createdAt.toISOString(),
    updated_at: entry.updatedAt.toISOString(),
  }
}
