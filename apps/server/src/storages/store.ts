import { getField } from '@crux/service-kit'
import type { IconName } from '../db/schema/columns.ts'
import type { Queries } from '../db/transaction.ts'

export type StorageFace = { id: string; name: string; description: string | null; icon: IconName | null; url: string }
export type StorageRow = StorageFace & { public: boolean; inUse: boolean; createdAt: Date; updatedAt: Date }
/** The keys as stored in the database, encrypted. */
export type SealedKeys = { accessKey: string | null; secretKey: string | null }

/** All columns but the keys, which queries that serve responses never select. */
const face = 's.id, s.name, s.description, s.icon, s.url'

export async function selectStorages(queries: Queries, teamId: string): Promise<StorageFace[]> {
  const { rows } = await queries.query<StorageFace>({
    name: 'storages',
    text: `select ${face} from crux.storage s where s.team_id = $1 order by s.name`,
    values: [teamId],
  })
  return rows
}

export async function selectOptions(queries: Queries, teamId: string): Promise<{ id: string; name: string }[]> {
  const { rows } = await queries.query<{ id: string; name: string }>({
    name: 'storage options',
    text: 'select id, name from crux.storage where team_id = $1 order by name',
    values: [teamId],
  })
  return rows
}

/** @returns undefined when it does not exist in this team */
export async function selectStorage(queries: Queries, teamId: string, id: string): Promise<StorageRow | undefined> {
  const { rows } = await queries.query<StorageRow>({
    name: 'storage',
    text: `select ${face}, s.access_key is null as public, s.created_at, s.updated_at,
        exists (select from crux.container_config c where c.storage_id = s.id) as in_use
      from crux.storage s where s.id = $1 and s.team_id = $2`,
    values: [id, teamId],
  })
  return rows[0]
}

/** For callers that decrypt the keys at once and store them nowhere. Only storages of the team. */
export async function selectAccess(
  queries: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<({ id: string; name: string; url: string } & SealedKeys)[]> {
  const { rows } = await queries.query<{ id: string; name: string; url: string } & SealedKeys>({
    name: 'storage access',
    text: `select id, name, url, access_key, secret_key
      from crux.storage where id = any($1::uuid[]) and team_id = $2`,
    values: [ids, teamId],
  })
  return rows
}

/** The ids that are storages of the team; they cannot be deleted until the transaction ends. */
export async function holdStorages(queries: Queries, teamId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await queries.query<{ id: string }>(
    'select id from crux.storage where id = any($1::uuid[]) and team_id = $2 order by id for key share',
    [ids, teamId],
  )
  return new Set(rows.map((row) => row.id))
}

export type StorageValues = Omit<StorageFace, 'id'> & { userId: string }

export async function insertStorage(
  queries: Queries,
  teamId: string,
  { id, name, description, icon, url, userId }: StorageValues & { id: string },
  keys: SealedKeys,
): Promise<void> {
  await queries.query(
    `insert into crux.storage (id, team_id, name, description, icon, url, access_key, secret_key, created_by, updated_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9)`,
    [id, teamId, name, description, icon, url, keys.accessKey, keys.secretKey, userId],
  )
}

/** @param keys undefined keeps the stored ones */
export async function updateStorage(
  queries: Queries,
  id: string,
  { name, description, icon, url, userId }: StorageValues,
  keys: SealedKeys | undefined,
): Promise<void> {
  await queries.query(
    `update crux.storage set name = $2, description = $3, icon = $4, url = $5,
       access_key = case when $6 then $7 else access_key end, secret_key = case when $6 then $8 else secret_key end,
       updated_at = now(), updated_by = $9 where id = $1`,
    [id, name, description, icon, url, keys !== undefined, keys?.accessKey ?? null, keys?.secretKey ?? null, userId],
  )
}

/** @returns false when a configuration imports from it, also one that was saved concurrently, which its foreign key detects */
export async function deleteStorage(queries: Queries, id: string): Promise<boolean> {
  try {
    await queries.query('delete from crux.storage where id = $1', [id])
    return true
  } catch (error) {
    if (getField(error, 'code') === '23503') return false
    throw error
  }
}
