import type { ConfigBundle } from '@crux/contract'
import { type ConfigRow, configJson } from '../container-configurations/index.ts'
import { type Queries, raw, sql } from '../db/queries.ts'

export type BundleRow = ConfigBundle & { config: ConfigRow; deploymentCount: number }

export const selectBundles = (queries: Queries, teamId: string) =>
  sql`select b.id, b.name, b.description, c.id as config_id
    from crux.config_bundle b join crux.container_config c on c.config_bundle_id = b.id
    where b.team_id = ${teamId} order by b.name`.rows<ConfigBundle>(queries, 'config bundles')

/** @returns undefined when it does not exist in this team */
export const selectBundle = (queries: Queries, teamId: string, id: string) =>
  sql`select b.id, b.name, b.description, c.id as config_id, ${raw(configJson('c'))} as config,
      (select count(*)::int from crux.deployment_config_bundle l where l.config_bundle_id = b.id) as deployment_count
    from crux.config_bundle b join crux.container_config c on c.config_bundle_id = b.id
    where b.id = ${id} and b.team_id = ${teamId}`.first<BundleRow>(queries, 'config bundle')

/** Prevents deployments from adding it in the meantime. @returns false when it is not in this team */
export const lockBundle = async (queries: Queries, teamId: string, id: string): Promise<boolean> =>
  (await sql`select from crux.config_bundle where id = ${id} and team_id = ${teamId} for update`.execute(queries)) === 1

export const insertBundle = (
  queries: Queries,
  row: { teamId: string; name: string; description: string | null; userId: string },
) =>
  sql`with made as (
      insert into crux.config_bundle (team_id, name, description, created_by, updated_by)
      values (${row.teamId}, ${row.name}, ${row.description}, ${row.userId}, ${row.userId}) returning id),
    configured as (
      insert into crux.container_config (type, config_bundle_id, updated_by) select 'config-bundle', id, ${row.userId}
        from made)
    select id from made`.id(queries)

/** Undefined fields stay unchanged. */
export const updateBundle = (
  queries: Queries,
  id: string,
  values: { name: string | undefined; description: string | null | undefined; userId: string },
) =>
  sql`update crux.config_bundle set name = coalesce(${values.name ?? null}, name),
    description = case when ${values.description !== undefined} then ${values.description || null} else description end,
    updated_at = now(), updated_by = ${values.userId} where id = ${id}`.execute(queries)

export const deleteBundle = (queries: Queries, id: string) =>
  sql`delete from crux.config_bundle where id = ${id}`.execute(queries)

/** The bundles of the team among these ids, locked so that none is deleted while it is attached. */
export const lockBundles = async (queries: Queries, teamId: string, ids: readonly string[]): Promise<Set<string>> =>
  new Set(
    await sql`select id from crux.config_bundle where id = any(${ids}::uuid[]) and team_id = ${teamId} order by id
      for key share`.column(queries),
  )
