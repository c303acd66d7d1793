import { CruxError, isAllowed, limits, type RegistryWrite, type ResponseInput } from '@crux/contract'
import type { Actor, Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import type { Queries } from '../db/queries.ts'
import { recordEvent } from '../system/index.ts'
import { readPrivateKey } from './api/google-token.ts'
import type { RegistryAccess } from './api/registry-api.ts'
import { openRegistry, type RegistryLocation, toLocation } from './connection.ts'
import { findRegistryToken } from './hook-token.ts'
import { insertPublicRegistry, listMatchableRegistries } from './public-registry-store.ts'
import * as store from './store.ts'

/** Background work has the id of a team only. */
type TeamId = Pick<TeamContext, 'id'>

export async function listRegistries(app: App, { team }: Caller): Promise<ResponseInput<'registries.list'>> {
  return (await store.selectRegistries(app, team.id)).map(store.toRegistry)
}

/** @throws CruxError notFound */
export async function findRegistry(app: App, team: TeamId, id: string): Promise<store.RegistryRow> {
  const row = await store.selectRegistry(app, team.id, id)
  if (!row) throw new CruxError('notFound', { property: 'registryId', value: id })
  return row
}

export async function getRegistry(app: App, { team }: Caller, id: string): Promise<ResponseInput<'registries.get'>> {
  const [row, inUse, registryToken] = await Promise.all([
    findRegistry(app, team, id),
    store.isRegistryInUse(app, id),
    findRegistryToken(app, team, id),
  ])
  return {
    ...store.toRegistry(row),
    inUse,
    registryToken,
    details: row,
  }
}

/** Connects to the registry with the given credential, and stores it only after success. */
export async function connectRegistry(
  app: App,
  { team, actor }: Caller,
  write: RegistryWrite,
): Promise<ResponseInput<'registries.create'>> {
  const location = toLocation(write)
  const access = location.public ? undefined : givenAccess(write)
  if (!location.public && !access) throw missingCredentials(write)
  await openRegistry(app, location, access)?.check()
  const registryId = await newId(app.database.pool)
  await store.insertRegistry(app, team.id, registryId, getValues(app, registryId, write, location, access, actor))
  recordEvent(app, { teamId: team.id, registryId, type: location.type }, 'registry connected')
  return getRegistry(app, { team, actor }, registryId)
}

/**
 * Creates a registry for a host whose images the team runs, which Crux never queries and which has no credentials.
 *
 * @throws CruxError forbidden `registry`; invalidArgument `url`
 */
export async function createUncheckedRegistry(
  queries: Queries,
  caller: Caller,
  host: string,
): Promise<{ id: string; name: string }> {
  const { team } = caller
  if (!isAllowed(team.role, 'registries.edit'))
    throw new CruxError('forbidden', {
      property: 'registry',
      value: host,
      description: `The team has no registry for ${host}. Ask an admin of the team to create one.`,
    })
  const taken = new Set((await listMatchableRegistries(queries, team.id)).map(({ name }) => name))
  const base = host.slice(0, limits.name.max - 5).padEnd(limits.name.min, '-')
  const names = [base, ...Array.from({ length: taken.size }, (_, index) => `${base} ${index + 2}`)]
  const name = names.find((one) => !taken.has(one)) ?? base
  const details = { url: host, local: false, public: true }
  return insertPublicRegistry(queries, caller, { type: 'unchecked', name, details })
}

/**
 * Credentials that are not sent are kept, but only for the address that they were entered for: users who may edit a
 * registry must not be able to send its stored credential to another address.
 */
export async function changeRegistry(
  app: App,
  { team, actor }: Caller,
  id: string,
  write: RegistryWrite,
): Promise<void> {
  const before = await findRegistry(app, team, id)
  const location = toLocation(write)
  const access = location.public
    ? undefined
    : (givenAccess(write) ?? (await keptAccess(app, team, before, location, write)))
  if (!location.public && !access) throw missingCredentials(write)
  await openRegistry(app, location, access)?.check()
  await store.updateRegistry(app, team.id, id, getValues(app, id, write, location, access, actor))
  recordEvent(app, { teamId: team.id, registryId: id, type: location.type }, 'registry changed')
}

export async function removeRegistry(app: App, { team }: Caller, id: string): Promise<void> {
  await findRegistry(app, team, id)
  if (!(await store.deleteRegistry(app, team.id, id)))
    throw new CruxError('preconditionFailed', {
      property: 'id',
      value: id,
      description: 'Images come from this registry.',
    })
  recordEvent(app, { teamId: team.id, registryId: id }, 'registry removed')
}

/** The stored credential, decrypted. */
export async function getAccess(
  app: App,
  team: TeamId,
  row: Pick<store.RegistryRow, 'id' | 'public'>,
): Promise<RegistryAccess> {
  if (row.public) return undefined
  const stored = await store.selectCredential(app, team.id, row.id)
  return stored?.user && stored.token ? { user: stored.user, token: openRegistryToken(app, stored) } : undefined
}

/** @throws CruxError preconditionFailed `registryId` when the stored token was changed, or the key that encrypted it is missing */
export function openRegistryToken(
  app: Pick<App, 'cipher'>,
  row: { id: string; name: string; token: string | null },
): string {
  try {
    return app.cipher.decrypt(row.token ?? '', { column: 'registry.token', row: row.id })
  } catch (cause) {
    throw new CruxError('preconditionFailed', {
      property: 'registryId',
      value: row.id,
      description: `The credentials of ${row.name} cannot be opened any more: enter them again.`,
      cause,
    })
  }
}

/** @throws CruxError invalidArgument `token` for a key of Google that cannot be read */
function givenAccess({ type, details: { user, token } }: RegistryWrite): RegistryAccess {
  if (type === 'google' && user && token) readPrivateKey(token)
  return user && token ? { user, token } : undefined
}

async function keptAccess(
  app: App,
  team: TeamContext,
  before: store.RegistryRow,
  location: RegistryLocation,
  write: RegistryWrite,
): Promise<RegistryAccess> {
  const { user } = write.details
  const isSameLocation =
    before.type === location.type && before.url === location.url && before.apiUrl === location.apiUrl
  return isSameLocation && (!user || user === before.user) ? getAccess(app, team, before) : undefined
}

const missingCredentials = ({ details }: RegistryWrite) =>
  new CruxError('missingParameter', {
    property: details.user ? 'token' : 'user',
    description: 'A private registry needs a user and a token. After a change of the address, enter them again.',
  })

const getValues = (
  app: App,
  id: string,
  write: RegistryWrite,
  location: RegistryLocation,
  access: RegistryAccess,
  actor: Actor,
) => ({
  ...location,
  name: write.name,
  description: write.description || null,
  icon: write.icon ?? null,
  user: access?.user ?? null,
  token: access ? app.cipher.encrypt(access.token, { column: 'registry.token', row: id }) : null,
  updatedBy: actor.id,
})
