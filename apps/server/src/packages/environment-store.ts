import { type Queries, sql } from '../db/queries.ts'

export type EnvironmentRow = {
  id: string
  packageId: string
  packageName: string
  name: string
  nodeId: string
  prefix: string
}

const columns = sql`e.id, e.package_id, k.name as package_name, e.name, e.node_id, e.prefix`
const from = sql`from crux.package k join crux.package_environment e on e.package_id = k.id`

/** Names of all environments of a team, in no order. */
export const selectEnvironmentNames = (queries: Queries, teamId: string) =>
  sql`select e.package_id, e.name, e."order" ${from} where k.team_id = ${teamId}`.rows<{
    packageId: string
    name: string
    order: number
  }>(queries, 'environments of team')

/** In the order in which versions are promoted. */
export const selectEnvironments = (queries: Queries, packageId: string) =>
  sql`select ${columns} ${from} where k.id = ${packageId}
    order by e."order", e.id`.rows<EnvironmentRow>(queries, 'environments of package')

export type EnvironmentPath = { packageId: string; environmentId: string }

/** @returns undefined when it does not exist in this package of this team */
export const selectEnvironment = (queries: Queries, teamId: string, path: EnvironmentPath) =>
  sql`select ${columns} ${from}
    where e.id = ${path.environmentId} and k.id = ${path.packageId} and k.team_id = ${teamId}`.first<EnvironmentRow>(
    queries,
    'environment',
  )

/** The node cannot be deleted until the transaction ends. @returns false when it is not in this team */
export const holdNode = async (queries: Queries, teamId: string, nodeId: string): Promise<boolean> =>
  (await sql`select from crux.node where id = ${nodeId} and team_id = ${teamId} for key share`.execute(queries)) === 1

export type EnvironmentValues = Pick<EnvironmentRow, 'name' | 'nodeId' | 'prefix'> & { userId: string }

/** The new one comes last. */
export const insertEnvironment = (queries: Queries, packageId: string, values: EnvironmentValues) =>
  sql`insert into crux.package_environment (package_id, name, node_id, prefix, "order", created_by, updated_by)
    select ${packageId}, ${values.name}, ${values.nodeId}, ${values.prefix}, coalesce(max("order"), 0) + 1,
      ${values.userId}, ${values.userId}
    from crux.package_environment where package_id = ${packageId} returning id`.id(queries)

export const updateEnvironment = (queries: Queries, id: string, values: EnvironmentValues) =>
  sql`update crux.package_environment set name = ${values.name}, node_id = ${values.nodeId},
    prefix = ${values.prefix}, updated_at = now(), updated_by = ${values.userId} where id = ${id}`.execute(queries)

export const deleteEnvironment = (queries: Queries, id: string) =>
  sql`delete from crux.package_environment where id = ${id}`.execute(queries)

export const orderEnvironments = (queries: Queries, ids: readonly string[], userId: string) =>
  sql`update crux.package_environment e set "order" = t.position, updated_at = now(), updated_by = ${userId}
    from unnest(${ids}::uuid[]) with ordinality as t(id, position) where e.id = t.id`.execute(queries)

/** Locked against freeze windows that are created at the same time. @returns the locked ones */
export const lockEnvironments = (queries: Queries, of: { packageId: string } | { environmentId: string }) =>
  sql`select id, node_id from crux.package_environment
    where ${'packageId' in of ? sql`package_id = ${of.packageId}` : sql`id = ${of.environmentId}`}
    order by id for update`.rows<{ id: string; nodeId: string }>(queries, `lock environments by ${Object.keys(of)}`)
