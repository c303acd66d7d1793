import { and, eq } from 'drizzle-orm'
import type { App } from '../context.ts'
import { type Queries, sql } from '../db/queries.ts'
import { registry } from '../db/schema/index.ts'

/** All columns but the credential, which queries that serve responses never select. */
const columns = sql`id, name, description, icon, type, url, api_url, image_name_prefix, namespace, public, local, "user",
  token is not null as has_credentials, created_at, updated_at`
export type RegistryRow = Omit<typeof registry.$inferSelect, 'teamId' | 'token' | 'createdBy' | 'updatedBy'> & {
  hasCredentials: boolean
}
/** The columns of the short form, which images also have. */
export type RegistrySummary = Pick<
  RegistryRow,
  'id' | 'name' | 'type' | 'url' | 'description' | 'icon' | 'imageNamePrefix'
>

export const toRegistry = <Row extends RegistrySummary>(row: Row) => ({
  ...row,
  imageUrlPrefix: [row.url.replace(/^[a-z]+:\/\//i, ''), row.imageNamePrefix].filter(Boolean).join('/'),
})

export const selectRegistries = (app: App, teamId: string) =>
  sql`select id, name, type, url, description, icon, image_name_prefix
    from crux.registry where team_id = ${teamId} order by name`.shared<RegistrySummary>(
    app.database,
    'registries of team',
  )

export const selectRegistry = (app: App, teamId: string, id: string) =>
  sql`select ${columns} from crux.registry
    where id = ${id} and team_id = ${teamId}`.first<RegistryRow>(app.database.pool)

/** The encrypted credential, for callers that decrypt it at once and store it nowhere. */
export const selectCredential = (app: App, teamId: string, id: string) =>
  sql`select id, name, "user", token from crux.registry where id = ${id} and team_id = ${teamId}`.first<
    Pick<typeof registry.$inferSelect, 'id' | 'name' | 'user' | 'token'>
  >(app.database.pool)

export const isRegistryInUse = async (app: App, id: string): Promise<boolean> =>
  (await sql`select from crux.image where registry_id = ${id} limit 1`.execute(app.database.pool)) === 1

export type RegistryValues = Omit<
  typeof registry.$inferInsert,
  'id' | 'teamId' | 'createdAt' | 'createdBy' | 'updatedAt'
>

export async function insertRegistry(app: App, teamId: string, id: string, values: RegistryValues): Promise<void> {
  await app.database.db.insert(registry).values({ ...values, id, teamId, createdBy: values.updatedBy })
}

export async function updateRegistry(app: App, teamId: string, id: string, values: RegistryValues): Promise<void> {
  await app.database.db
    .update(registry)
    .set({ ...values, updatedAt: new Date() })
    .where(and(eq(registry.id, id), eq(registry.teamId, teamId)))
}

/** @returns false when an image uses it, also one that was added concurrently */
export const deleteRegistry = async (app: App, teamId: string, id: string): Promise<boolean> =>
  (await sql`delete from crux.registry where id = ${id} and team_id = ${teamId}
    and not exists (select from crux.image where registry_id = ${id})`.execute(app.database.pool)) === 1

/** @returns false when it is not in this team */
export const lockRegistryRow = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await sql`select from crux.registry
    where id = ${id} and team_id = ${teamId} for update`.execute(queries)) === 1

/** The types of these registries of the team, by id; others are missing. */
/** Type and place of each registry of the team; `local` ones are the engine's own store. */
export async function selectRegistryKinds(queries: Queries, teamId: string, ids: readonly string[]) {
  const rows = await sql`select id, type, local from crux.registry
    where team_id = ${teamId} and id = any(${[...new Set(ids)]}::uuid[])`.rows<
    Pick<RegistryRow, 'id' | 'type' | 'local'>
  >(queries)
  return new Map(rows.map((row) => [row.id, row]))
}
