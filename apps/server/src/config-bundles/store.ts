import type { ConfigBundle } from '@crux/contract'
import { type ConfigRow, configJson } from '../container-configurations/index.ts'
import type { Queries } from '../db/transaction.ts'

export type BundleRow = ConfigBundle & { config: ConfigRow; deploymentCount: number }

export async function selectBundles(queries: Queries, teamId: string): Promise<ConfigBundle[]> {
  const { rows } = await queries.query<ConfigBundle>({
    name: 'config bundles',
    text: `select b.id, b.name, b.description, c.id as config_id
      from crux.config_bundle b join crux.container_config c on c.config_bundle_id = b.id
      where b.team_id = $1 order by b.name`,
    values: [teamId],
  })
  return rows
}

/** @returns undefined when it does not exist in this team */
export async function selectBundle(queries: Queries, teamId: string, id: string): Promise<BundleRow | undefined> {
  const { rows } = await queries.query<BundleRow>({
    name: 'config bundle',
    text: `select b.id, b.name, b.description, c.id as config_id, ${configJson('c')} as config,
        (select count(*)::int from crux.deployment_config_bundle l where l.config_bundle_id = b.id) as deployment_count
      from crux.config_bundle b join crux.container_config c on c.config_bundle_id = b.id
      where b.id = $1 and b.team_id = $2`,
    values: [id, teamId],
  })
  return rows[0]
}

/** Prevents deployments from adding it in the meantime. @returns false when it is not in this team */
export async function lockBundle(queries: Queries, teamId: string, id: string): Promise<boolean> {
  const { rowCount } = await queries.query('select from crux.config_bundle where id = $1 and team_id = $2 for update', [
    id,
    teamId,
  ])
  return rowCount === 1
}

export async function insertBundle(
  queries: Queries,
  row: { teamId: string; name: string; description: string | null; userId: string },
): Promise<string> {
  const { rows } = await queries.query<{ id: string }>(
    `with made as (
        insert into crux.config_bundle (team_id, name, description, created_by, updated_by)
        values ($1, $2, $3, $4, $4) returning id),
      configured as (
        insert into crux.container_config (type, config_bundle_id, updated_by) select 'config-bundle', id, $4 from made)
      select id from made`,
    [row.teamId, row.name, row.description, row.userId],
  )
  return rows[0]?.id ?? ''
}

/** Undefined fields stay unchanged. */
export async function updateBundle(
  queries: Queries,
  id: string,
  values: { name: string | undefined; description: string | null | undefined; userId: string },
): Promise<void> {
  await queries.query(
    `update crux.config_bundle set name = coalesce($2, name), description = case when $3 then $4 else description end,
       updated_at = now(), updated_by = $5 where id = $1`,
    [id, values.name ?? null, values.description !== undefined, values.description || null, values.userId],
  )
}

export const deleteBundle = (queries: Queries, id: string) =>
  queries.query('delete from crux.config_bundle where id = $1', [id])

/** The bundles of the team among these ids, locked so that none is deleted while it is attached. */
export async function holdBundles(queries: Queries, teamId: string, ids: readonly string[]): Promise<Set<string>> {
  const { rows } = await queries.query<{ id: string }>(
    'select id from crux.config_bundle where id = any($1::uuid[]) and team_id = $2 order by id for key share',
    [ids, teamId],
  )
  return new Set(rows.map((row) => row.id))
}
