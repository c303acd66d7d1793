import { isUuid } from '@crux/service-kit'
import type { App } from '../app/app.ts'
import { isObject } from '../http/body.ts'
import { badRequest, noSuchRow } from '../http/errors.ts'
import { linkTo, readNumber, readSize } from '../http/pages.ts'
import type { RequestContext } from '../http/request-context.ts'
import type { Routes } from '../http/routes.ts'
import { findPerson, type Person } from '../identities/store.ts'
import { showIdentity } from '../identities/wire.ts'
import { endSessions } from '../sessions/store.ts'
import { deleteCredential } from './credentials.ts'
import { type IdentityBody, parseJson, readIdentityBody, readState, readTraits } from './identity-body.ts'
import { hashOf, makeIdentities, makeIdentity, orConflict } from './identity-create.ts'
import {
  type Credential,
  countPeople,
  deletePerson,
  type ListFilter,
  listCredentials,
  listPeople,
  updatePerson,
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
      DELETE: async (ctx) => deleteCredential(app, ctx, await requirePerson(app, ctx)),
    },
  }
}

const firstToken = '00000000-0000-0000-0000-000000000000'

async function listIdentities(app: App, ctx: RequestContext): Promise<unknown> {
  refuseCredentials(ctx)
  const filter = readFilter(ctx)
  const byNumber = ctx.query('page') !== undefined || ctx.query('per_page') !== undefined
  const people = byNumber ? await numberedPage(app, ctx, filter) : await tokenPage(app, ctx, filter)
  if (!filter || 'ids' in filter)
    return ctx.reply.send(people.map((person) => showForAdmin(app, person, { metadataAdmin: 'always' })))
  const credentials = await listCredentials(
    app.database.db,
    people.map(({ identity }) => identity.id),
  )
  const shown = people.map((person) =>
    showForAdmin(app, person, { metadataAdmin: 'always', credentials: credentials.get(person.identity.id) ?? [] }),
  )
  return ctx.reply.send(shown)
}

/** The timestamp is sent as a header because the body has to match that of Ory Kratos. */
const recoveredAtHeader = 'x-crux-recovered-at'

async function getIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  refuseCredentials(ctx)
  const person = await requirePerson(app, ctx)
  const { recoveredAt } = person.identity
  if (recoveredAt) ctx.reply.header(recoveredAtHeader, recoveredAt.toISOString())
  return ctx.reply.send(await showDetails(app, person))
}

/** Secrets of credentials are never sent to a client, so a request that includes them is refused. */
function refuseCredentials(ctx: RequestContext): void {
  if (ctx.queryValues('include_credential').length > 0)
    throw badRequest('This service never shows credentials: `include_credential` is not supported.')
}

/** Pages continue after the id of the last identity of the previous page, so new identities cannot shift them. */
async function tokenPage(app: App, ctx: RequestContext, filter: ListFilter): Promise<Person[]> {
  const asked = ctx.query('page_size')
  const wanted = filter && 'ids' in filter && asked === undefined ? filter.ids.length : 0
  const size = Math.max(readSize(asked), wanted)
  const after = ctx.query('page_token') || firstToken
  if (!isUuid(after)) throw badRequest('The page token is invalid, do not craft your own page tokens')
  const found = await listPeople(app.database, filter, { size: size + 1, after })
  const people = found.slice(0, size)
  const links = [linkTo(ctx, 'first', { page_size: String(size), page_token: firstToken })]
  const last = people.at(-1)?.identity.id
  if (found.length > size && last) links.push(linkTo(ctx, 'next', { page_size: String(size), page_token: last }))
  ctx.reply.header('link', links.join(','))
  return people
}

async function numberedPage(app: App, ctx: RequestContext, filter: ListFilter): Promise<Person[]> {
  const size = readSize(ctx.query('per_page'))
  const page = readNumber(ctx.query('page') ?? '0')
  const total = await countPeople(app.database)
  const last = Math.max(0, Math.ceil(total / size) - 1)
  const to = (rel: string, number: number) => linkTo(ctx, rel, { page: String(number), per_page: String(size) })
  const links = [to('first', 0)]
  if (page < last) links.push(to('next', page + 1))
  if (page > 0) links.push(to('prev', page - 1))
  links.push(to('last', last))
  ctx.reply.header('link', links.join(',')).header('x-total-count', total)
  return listPeople(app.database, filter, { size, offset: page * size })
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
  const person = await makeIdentity(app, body, 'This identity conflicts with another identity that already exists.')
  const base = `http://${ctx.request.headers.host ?? 'localhost'}`
  return ctx.reply
    .code(201)
    .header('location', `${base}/identities/${person.identity.id}`)
    .send(await showDetails(app, person, 'when set'))
}

async function replaceIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const person = await requirePerson(app, ctx)
  const value = parseJson(ctx.request.body)
  const body = readIdentityBody(value, { strict: false })
  const stateGiven = isObject(value) ? value.state : undefined
  const state = stateGiven === undefined || stateGiven === '' ? person.identity.state : body.state
  return ctx.reply.send(await save(app, person, { ...body, state }, 'when set'))
}

async function patchIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const person = await requirePerson(app, ctx)
  const { identity } = person
  const patched = applyPatch(
    {
      state: identity.state,
      traits: identity.traits,
      metadata_public: identity.metadataPublic,
      metadata_admin: identity.metadataAdmin,
    },
    parseJson(ctx.request.body),
  )
  const change: IdentityBody = {
    traits: readTraits(patched.traits),
    state: readState(patched.state),
    metadataPublic: patched.metadata_public ?? null,
    metadataAdmin: patched.metadata_admin ?? null,
  }
  return ctx.reply.send(await save(app, person, change, 'always'))
}

async function save(app: App, person: Person, body: IdentityBody, shown: MetadataAdmin): Promise<unknown> {
  const passwordHash = await hashOf(app, body)
  const { traits, state, metadataPublic, metadataAdmin } = body
  await orConflict(
    app.database.transaction(async (tx) => {
      await updatePerson(
        tx,
        person,
        { traits, state, metadataPublic, metadataAdmin },
        { verified: body.verified ?? (app.assumesAddresses && 'assumed'), passwordHash },
      )
      if (state === 'inactive') await endSessions(tx, { ofIdentity: person.identity.id })
    }),
  )
  const saved = await findPerson(app.database.db, person.identity.id)
  if (!saved) throw noSuchRow()
  return showDetails(app, saved, shown)
}

async function deleteIdentity(app: App, ctx: RequestContext): Promise<unknown> {
  const id = ctx.param('id')
  if (!isUuid(id)) throw noSuchRow()
  const deleted = await app.database.transaction(async (tx) => {
    await endSessions(tx, { ofIdentity: id })
    return deletePerson(tx, id)
  })
  if (!deleted) throw noSuchRow()
  return ctx.reply.code(204).send()
}

export async function requirePerson(app: App, ctx: RequestContext): Promise<Person> {
  const id = ctx.param('id')
  const person = isUuid(id) ? await findPerson(app.database.db, id) : undefined
  if (!person) throw noSuchRow()
  return person
}

type MetadataAdmin = 'always' | 'when set'

async function showDetails(app: App, person: Person, metadataAdmin: MetadataAdmin = 'always'): Promise<unknown> {
  const found = await listCredentials(app.database.db, [person.identity.id])
  return showForAdmin(app, person, { metadataAdmin, credentials: found.get(person.identity.id) ?? [] })
}

function showForAdmin(app: App, person: Person, options: { metadataAdmin: MetadataAdmin; credentials?: Credential[] }) {
  const { metadataAdmin = null } = person.identity
  return {
    ...showIdentity(person, app.publicUrl),
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
