import { getField } from '@crux/service-kit'
import { type Queries, sql } from '../db/queries.ts'
import type { IconName } from '../db/schema/columns.ts'

export type StorageSummary = {
  id: string
  name: string
  description: string | null
  icon: IconName | null
  url: string
}
export type StorageRow = StorageSummary & { public: boolean; inUse: boolean; createdAt: Date; updatedAt: Date }
/** The keys as stored in the database, encrypted. */
export type SealedKeys = { accessKey: string | null; secretKey: string | null }

/** All columns but the keys, which queries that serve responses never select. */
const face = sql`s.id, s.name, s.description, s.icon, s.url`

export const selectStorages = (queries: Queries, teamId: string) =>
  sql`select ${face} from crux.storage s where s.team_id = ${teamId}
    order by s.name`.rows<StorageSummary>(queries, 'storages')

export const selectOptions = (queries: Queries, teamId: string) =>
  sql`select id, name from crux.storage
    where team_id = ${teamId} order by name`.rows<{ id: string; name: string }>(queries, 'storage options')

/** @returns undefined when it does not exist in this team */
export const selectStorage = (queries: Queries, teamId: string, id: string) =>
  sql`select ${face}, s.access_key is null as public, s.created_at, s.updated_at,
      exists (select from crux.container_config c where c.storage_id = s.id) as in_use
    from crux.storage s where s.id = ${id} and s.team_id = ${teamId}`.first<StorageRow>(queries, 'storage')

/** For callers that decrypt the keys at once and store them nowhere. Only storages of the team. */
export const selectAccess = (queries: Queries, teamId: string, ids: readonly string[]) =>
  sql`select id, name, url, access_key, secret_key
    from crux.storage
    where id = any(${ids}::uuid[]) and team_id = ${teamId}`.rows<
    { id: string; name: string; url: string } & SealedKeys
  >(queries, 'storage access')

/** The ids that are storages of the team; they cannot be deleted until the transaction ends. */
export const lockStorages = async (queries: Queries, teamId: string, ids: readonly string[]): Promise<Set<string>> =>
  new Set(
    await sql`select id from crux.storage where id = any(${ids}::uuid[]) and team_id = ${teamId} order by id
      for key share`.column(queries),
  )

/** The addresses of these storages of the team, by id. */
export async function storageUrls(
  queries: Queries,
  teamId: string,
  ids: readonly string[],
): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql`select id, url from crux.storage
    where id = any(${ids}::uuid[]) and team_id = ${teamId}`.rows<{ id: string; url: string }>(queries)
  return new Map(rows.map(({ id, url }) => [id, url]))
}

export const lockStorage = (queries: Queries, id: string) =>
  sql`select from crux.storage where id = ${id} for update`.execute(queries)

export type StorageValues = Omit<StorageSummary, 'id'> & { userId: string }

export const insertStorage = (
  queries: Queries,
  teamId: string,
  { id, name, description, icon, url, userId }: StorageValues & { id: string },
  keys: SealedKeys,
) =>
  sql`insert into crux.storage (id, team_id, name, description, icon, url, access_key, secret_key, created_by,
    updated_by)
    values (${id}, ${teamId}, ${name}, ${description}, ${icon}, ${url}, ${keys.accessKey}, ${keys.secretKey},
      ${userId}, ${userId})`.execute(queries)

/** @param keys undefined keeps the stored ones */
export const updateStorage = (
  queries: Queries,
  id: string,
  { name, description, icon, url, userId }: StorageValues,
  keys: SealedKeys | undefined,
) =>
  sql`update crux.storage set name = ${name}, description = ${description}, icon = ${icon}, url = ${url},
    access_key = case when ${keys !== undefined} then ${keys?.accessKey ?? null} else access_key end,
    secret_key = case when ${keys !== undefined} then ${keys?.secretKey ?? null} else secret_key end,
    updated_at = now(), updated_by = ${userId} where id = ${id}`.execute(queries)

/** @returns false when a configuration imports from it, also one that was saved concurrently, which its foreign key detects */
export async function deleteStorage(queries: Queries, id: string): Promise<boolean> {
  try {
    await sql`delete from crux.storage where id = ${id}`.execute(queries)
    return true
  } catch (error) {
    if (getField(error, 'code') === '23503') return false
    throw error
  }
}
