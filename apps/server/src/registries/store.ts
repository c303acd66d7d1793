import type { Registry } from '@crux/contract'
import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { App } from '../context.ts'
import { type Queries, sql as statement } from '../db/queries.ts'
import { image, registry } from '../db/schema/index.ts'

/** All columns but the credential, which queries that serve responses never select. */
const columns = {
  id: registry.id,
  name: registry.name,
  description: registry.description,
  icon: registry.icon,
  type: registry.type,
  url: registry.url,
  imageNamePrefix: registry.imageNamePrefix,
  public: registry.public,
  local: registry.local,
  user: registry.user,
  hasCredentials: sql<boolean>`${registry.token} is not null`,
  createdAt: registry.createdAt,
  updatedAt: registry.updatedAt,
}
export type RegistryRow = Omit<typeof registry.$inferSelect, 'teamId' | 'token' | 'createdBy' | 'updatedBy'> & {
  hasCredentials: boolean
}
type RegistryDto = z.input<typeof Registry>
/** The columns of the short form, which images also have. */
export type RegistryFace = Pick<
  RegistryRow,
  'id' | 'name' | 'type' | 'url' | 'description' | 'icon' | 'imageNamePrefix'
>

export const toRegistry = (row: RegistryFace): RegistryDto => ({
  id: row.id,
  name: row.name,
  type: row.type,
  url: row.url,
  description: row.description,
  icon: row.icon,
  imageUrlPrefix: [row.url.replace(/^[a-z]+:\/\//i, ''), row.imageNamePrefix].filter(Boolean).join('/'),
})

export const selectRegistries = (app: App, teamId: string) =>
  statement`select id, name, type, url, description, icon, image_name_prefix
    from crux.registry where team_id = ${teamId} order by name`.shared<RegistryFace>(app.database, 'registries of team')

export async function selectRegistry(app: App, teamId: string, id: string): Promise<RegistryRow | undefined> {
  const [row] = await app.database.db
    .select(columns)
    .from(registry)
    .where(and(eq(registry.id, id), eq(registry.teamId, teamId)))
  return row
}

/** The encrypted credential, for callers that decrypt it at once and store it nowhere. */
export async function selectCredential(app: App, teamId: string, id: string) {
  const [row] = await app.database.db
    .select({ id: registry.id, name: registry.name, user: registry.user, token: registry.token })
    .from(registry)
    .where(and(eq(registry.id, id), eq(registry.teamId, teamId)))
  return row
}

export async function isRegistryInUse(app: App, id: string): Promise<boolean> {
  const [row] = await app.database.db.select({ id: image.id }).from(image).where(eq(image.registryId, id)).limit(1)
  return row !== undefined
}

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
export async function deleteRegistry(app: App, teamId: string, id: string): Promise<boolean> {
  const deleted = await app.database.db
    .delete(registry)
    .where(
      and(
        eq(registry.id, id),
        eq(registry.teamId, teamId),
        sql`not exists (select from ${image} where ${image.registryId} = ${id})`,
      ),
    )
    .returning({ id: registry.id })
  return deleted.length > 0
}

/** @returns false when it is not in this team */
export const lockRegistryRow = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await statement`select from crux.registry
    where id = ${id} and team_id = ${teamId} for update`.execute(queries)) === 1

export const isRegistryOf = async (queries: Queries, teamSlug: string, id: string): Promise<boolean> =>
  (await statement`select from crux.registry r join crux.team t on t.id = r.team_id
    where r.id = ${id} and t.slug = ${teamSlug}`.execute(queries, 'registry of a hook')) === 1

/** The types of these registries of the team, by id; others are missing. */
export async function selectRegistryTypes(queries: Queries, teamId: string, ids: readonly string[]) {
  const rows = await statement`select id, type from crux.registry
    where team_id = ${teamId} and id = any(${[...new Set(ids)]}::uuid[])`.rows<Pick<RegistryRow, 'id' | 'type'>>(
    queries,
  )
  return new Map(rows.map((row) => [row.id, row.type]))
}
