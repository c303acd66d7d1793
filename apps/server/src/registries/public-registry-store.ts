import type { RegistryWrite } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import { lockByName } from '../db/lock-order.ts'
import { type Queries, sql } from '../db/queries.ts'
import { toLocation } from './connection.ts'
import { type RegistrySummary, toRegistry } from './store.ts'

/** What `matchRegistry` of the rules reads of a registry, and its name. */
export type MatchableRegistry = Pick<ReturnType<typeof toRegistry<RegistrySummary>>, 'id' | 'name' | 'type' | 'url'> & {
  imageUrlPrefix: string
}
/** A registry without credentials, for a registry whose images are public. */
export type PublicRegistry = Extract<RegistryWrite, { type: 'hub' | 'unchecked' }>

/** Held while a transaction looks for a registry and creates it if it is missing, so that two of them create it once. */
export const lockRegistries = (queries: Queries, teamId: string) => lockByName(queries, `registries of ${teamId}`)

/** The registries of a team inside a transaction, by name. */
export async function listMatchableRegistries(queries: Queries, teamId: string): Promise<MatchableRegistry[]> {
  const rows = await sql`select id, name, type, url, description, icon, image_name_prefix
    from crux.registry where team_id = ${teamId} order by name`.rows<RegistrySummary>(queries, 'registries to match')
  return rows.map(toRegistry)
}

/**
 * Creates a public registry inside a transaction of the caller, which has checked the right to it. Its address is not requested, because a transaction
 * must not wait for a registry: one that does not exist is reported where its images are listed or pulled.
 *
 * @throws CruxError invalidArgument for an address that cannot be read; the unique index of names throws alreadyExists `name`
 */
export async function insertPublicRegistry(
  queries: Queries,
  { team, actor }: Caller,
  write: PublicRegistry,
): Promise<MatchableRegistry> {
  const { type, url, imageNamePrefix } = toLocation(write)
  const row = await sql`insert into crux.registry
      (id, team_id, name, description, icon, type, url, image_name_prefix, public, local, created_by, updated_by)
    values (uuidv7(), ${team.id}, ${write.name}, ${write.description || null}, ${write.icon ?? null}, ${type}, ${url},
      ${imageNamePrefix}, true, false, ${actor.id}, ${actor.id})
    returning id, name, type, url, description, icon, image_name_prefix`.one<RegistrySummary>(queries)
  return toRegistry(row)
}
