import { CruxError, type ResponseInput, type StorageWrite } from '@crux/contract'
import { parseStorageUrl } from '@crux/rules'
import type { Actor, Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import { newId } from '../db/new-id.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import { askStorage, type StorageAccess } from './check.ts'
import * as store from './store.ts'

export const listStorages = (app: App, { team }: Caller): Promise<ResponseInput<'storages.list'>> =>
  store.selectStorages(app.database.pool, team.id)

export const listStorageOptions = (app: App, { team }: Caller): Promise<ResponseInput<'storages.options'>> =>
  store.selectOptions(app.database.pool, team.id)

export const getStorage = (app: App, { team }: Caller, id: string): Promise<ResponseInput<'storages.get'>> =>
  findStorage(app.database.pool, team, id)

/**
 * Stores it without a connection test, because often only the nodes can reach it. `checkStorage` tests it.
 *
 * @throws CruxError invalidArgument `url`, missingParameter `accessKey` or `secretKey`, alreadyExists `name`
 */
export async function connectStorage(
  app: App,
  { team, actor }: Caller,
  write: StorageWrite,
): Promise<ResponseInput<'storages.create'>> {
  const id = await newId(app.database.pool)
  const keys = write.public ? noKeys : givenKeys(app, id, write)
  if (!keys) throw missingKey(write)
  await store.insertStorage(app.database.pool, team.id, { id, ...getValues(write, actor) }, keys)
  recordEvent(app, { teamId: team.id, storageId: id }, 'storage connected')
  return getStorage(app, { team, actor }, id)
}

/**
 * Keys that are not sent are kept, but only for the address that they were entered for: users who may edit a storage
 * must not be able to send its stored keys to another address.
 */
export async function changeStorage(app: App, { team, actor }: Caller, id: string, write: StorageWrite): Promise<void> {
  await inTransaction(app.database, async (queries) => {
    await store.lockStorage(queries, id)
    const before = await findStorage(queries, team, id)
    const values = getValues(write, actor)
    const keys = write.public ? noKeys : givenKeys(app, id, write)
    const keeps = !write.accessKey && !write.secretKey && !before.public && values.url === before.url
    if (!keys && !keeps) throw missingKey(write)
    await store.updateStorage(queries, id, values, keys)
  })
  recordEvent(app, { teamId: team.id, storageId: id }, 'storage changed')
}

export async function removeStorage(app: App, { team }: Caller, id: string): Promise<void> {
  await findStorage(app.database.pool, team, id)
  if (!(await store.deleteStorage(app.database.pool, id)))
    throw new CruxError('preconditionFailed', {
      property: 'id',
      value: id,
      description: 'Configurations import files from this storage: remove it from them first.',
    })
  recordEvent(app, { teamId: team.id, storageId: id }, 'storage removed')
}

/** Requests the names of its buckets now, from this machine. */
export async function checkStorage(app: App, { team }: Caller, id: string): Promise<ResponseInput<'storages.check'>> {
  const access = (await storageAccess(app, app.database.pool, team.id, [id])).get(id)
  if (!access) throw storageNotFound(id)
  return askStorage(app.outbound, access)
}

/** Whether it is a storage of the team; if so, it cannot be deleted until the transaction ends. */
export const keepStorage = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await store.lockStorages(queries, teamId, [id])).has(id)

/**
 * The addresses and decrypted keys of a team's storages, for callers that use them at once and store them nowhere.
 *
 * @throws CruxError preconditionFailed `instances` when the key that encrypted them is missing
 */
export async function storageAccess(
  app: Pick<App, 'cipher'>,
  queries: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<Map<string, StorageAccess>> {
  if (ids.length === 0) return new Map()
  const rows = await store.selectAccess(queries, teamId, ids)
  return new Map(rows.map((row) => [row.id, { url: row.url, keys: openKeys(app, row) }]))
}

function openKeys(
  app: Pick<App, 'cipher'>,
  row: { id: string; name: string } & store.SealedKeys,
): StorageAccess['keys'] {
  const { accessKey, secretKey } = row
  if (accessKey === null || secretKey === null) return undefined
  try {
    return {
      accessKey: app.cipher.decrypt(accessKey, { column: 'storage.access_key', row: row.id }),
      secretKey: app.cipher.decrypt(secretKey, { column: 'storage.secret_key', row: row.id }),
    }
  } catch (cause) {
    throw new CruxError('preconditionFailed', {
      property: 'instances',
      description: `The keys of the storage ${row.name} cannot be opened any more: enter them again.`,
      cause,
    })
  }
}

async function findStorage(queries: Queries, team: TeamContext, id: string): Promise<store.StorageRow> {
  const row = await store.selectStorage(queries, team.id, id)
  if (!row) throw storageNotFound(id)
  return row
}

const noKeys: store.SealedKeys = { accessKey: null, secretKey: null }

function givenKeys(app: App, id: string, { accessKey, secretKey }: StorageWrite): store.SealedKeys | undefined {
  if (!accessKey || !secretKey) return undefined
  return {
    accessKey: app.cipher.encrypt(accessKey, { column: 'storage.access_key', row: id }),
    secretKey: app.cipher.encrypt(secretKey, { column: 'storage.secret_key', row: id }),
  }
}

function getValues(write: StorageWrite, actor: Actor): store.StorageValues {
  const parsed = parseStorageUrl(write.url)
  if (!parsed.ok)
    throw new CruxError('invalidArgument', {
      property: 'url',
      value: write.url,
      description: `${parsed.problem}.`,
    })
  return {
    name: write.name,
    description: write.description || null,
    icon: write.icon ?? null,
    url: parsed.url,
    userId: actor.id,
  }
}

const storageNotFound = (id: string) => new CruxError('notFound', { property: 'storageId', value: id })

const missingKey = ({ accessKey }: StorageWrite) =>
  new CruxError('missingParameter', {
    property: accessKey ? 'secretKey' : 'accessKey',
    description:
      'A storage that is not public needs an access key and a secret key, and a new address needs them again.',
  })
