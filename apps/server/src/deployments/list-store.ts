import { CruxError, type Deployment, type Query, type ResponseInput } from '@crux/contract'
import { isoTypes } from '@crux/postgres'
import type { Caller, TeamContext } from '../access/index.ts'
import { findBundle } from '../config-bundles/index.ts'
import type { App } from '../context.ts'
import { containsPattern, joined, nothing, raw, type Sql, sql } from '../db/queries.ts'
import { hasNode } from '../nodes/index.ts'
import { type Counts, type CountsJson, countByStatus, countsJson, scheduleRollup, sumBy } from './count-store.ts'
import { type LastReleaseRow, lastReleaseColumns, toLastRelease } from './last-release-store.ts'

type ListQuery = Query<'deployments.list'>
export type ListRow = LastReleaseRow & {
  id: string
  prefix: string
  protected: boolean
  status: Deployment['status']
  note: string | null
  createdAt: string
  createdBy: string
  updatedAt: string
  updatedBy: string
  nodeId: string
  nodeName: string
  nodeType: Deployment['node']['type']
  projectId: string
  projectName: string
  projectType: Deployment['project']['type']
  versionId: string
  versionName: string
  versionType: Deployment['version']['type']
}

const columns = sql`d.id, d.prefix, d.protected, d.status, d.note, d.created_at,
  d.created_by, d.updated_at, d.updated_by, n.id as node_id,
  n.name as node_name, n.type as node_type, p.id as project_id, p.name as project_name, p.type as project_type,
  v.id as version_id, v.name as version_name, v.type as version_type, ${lastReleaseColumns}`

const joins = sql`join crux.node n on n.id = d.node_id
  join crux.project p on p.id = d.project_id
  join crux.version v on v.id = d.version_id`

/** The page is selected from the deployments alone, by the index of newest ones; names are joined for its rows. */
export const listSql = (teamId: string, { skip, take }: { skip: number; take: number }) => sql`
  select ${columns}, ${countsJson(teamId)} as counted
  from (select * from crux.deployment where team_id = ${teamId}
    order by created_at desc, id desc offset ${skip} limit ${take}) d ${joins} order by d.created_at desc, d.id desc`

/** Newest first, with counts by status and, unfiltered, everything in one prepared statement. */
export async function listDeployments(
  app: App,
  { team }: Caller,
  query: ListQuery,
): Promise<ResponseInput<'deployments.list'>> {
  const { nodeId, filter, status, configBundleId } = query
  const filtered = [nodeId, filter, status, configBundleId].some((value) => value !== undefined)
  const { rows, counts, total } = filtered ? await findFiltered(app, team, query) : await findAll(app, team, query)
  return { items: await toDeployments(app, rows), total, counts }
}

/** Deployments of one node, newest first. @throws CruxError notFound */
export async function listOfNode(
  app: App,
  { team }: Caller,
  nodeId: string,
): Promise<ResponseInput<'nodes.deployments'>> {
  if (!(await hasNode(app.database.pool, team.id, nodeId)))
    throw new CruxError('notFound', { property: 'nodeId', value: nodeId })
  return listSome(
    app,
    'deployments of a node',
    sql`select * from crux.deployment
      where node_id = ${nodeId} and team_id = ${team.id} order by created_at desc, id desc limit 1000`,
  )
}

/** Deployments with a bundle, newest first. @throws CruxError notFound */
export async function listOfBundle(
  app: App,
  { team }: Caller,
  configBundleId: string,
): Promise<ResponseInput<'config-bundles.deployments'>> {
  await findBundle(app.database.pool, team, configBundleId)
  return listSome(
    app,
    'deployments of a bundle',
    sql`
      select one.* from crux.deployment_config_bundle l join crux.deployment one on one.id = l.deployment_id
      where l.config_bundle_id = ${configBundleId} and one.team_id = ${team.id}
      order by one.created_at desc, one.id desc limit 1000`,
  )
}

/** The deployments of a team among these ids, newest first. */
export const listByIds = (app: App, teamId: string, ids: readonly string[]): Promise<Deployment[]> =>
  listSome(
    app,
    'deployments by id',
    sql`select * from crux.deployment where team_id = ${teamId} and id = any(${`{${ids.join()}}`}::uuid[])`,
  )

async function listSome(app: App, name: string, chosen: Sql): Promise<Deployment[]> {
  const rows = await sql`select ${columns} from (${chosen}) d
    ${joins} order by d.created_at desc, d.id desc`.shared<ListRow>(app.database, name, isoTypes)
  return toDeployments(app, rows)
}

export const findListRow = (app: App, teamId: string, deploymentId: string) =>
  sql`select ${columns} from crux.deployment d ${joins}
    where d.id = ${deploymentId} and d.team_id = ${teamId}`.first<ListRow>(
    app.database.pool,
    'deployment row',
    isoTypes,
  )

export async function toDeployments(app: App, rows: readonly ListRow[]): Promise<Deployment[]> {
  const people = await app.identity.people(rows.map((row) => row.updatedBy))
  return rows.map((row) => toDeployment(row, people.get(row.updatedBy)?.name))
}

function toDeployment(row: ListRow, updatedByName: string | undefined): Deployment {
  return {
    ...row,
    audit: row,
    node: { id: row.nodeId, name: row.nodeName, type: row.nodeType },
    project: { id: row.projectId, name: row.projectName, type: row.projectType },
    version: { id: row.versionId, name: row.versionName, type: row.versionType },
    ...toLastRelease(row),
    updatedByName: updatedByName ?? null,
  }
}

type Found = { rows: readonly ListRow[]; counts: Counts; total: number }

async function findAll(app: App, team: TeamContext, page: ListQuery): Promise<Found> {
  const rows = await listSql(team.id, page).shared<ListRow & { counted: CountsJson }>(
    app.database,
    'deployments',
    isoTypes,
  )
  // Beyond the last page there is no row with the counts.
  const counted = rows[0]?.counted ?? (await countByStatus(app, team.id))
  scheduleRollup(app, team.id, counted)
  return { rows, counts: counted.counts, total: sumBy(counted.counts) }
}

/** Filters also match the names of node, version and project; the counts follow the filter, but not the chosen status. */
async function findFiltered(app: App, team: TeamContext, query: ListQuery): Promise<Found> {
  const { nodeId, filter, configBundleId, status } = query
  const conditions = [sql`d.team_id = ${team.id}`]
  if (nodeId !== undefined) conditions.push(sql`d.node_id = ${nodeId}`)
  if (filter !== undefined) {
    const names = ['d.prefix', 'n.name', 'v.name', 'p.name'].map(
      (name) => sql`${raw(name)} ilike ${containsPattern(filter)}`,
    )
    conditions.push(sql`(${joined(names, ' or ')})`)
  }
  if (configBundleId !== undefined)
    conditions.push(sql`d.id in (
      select deployment_id from crux.deployment_config_bundle where config_bundle_id = ${configBundleId})`)
  const from = sql`from crux.deployment d ${joins} where ${joined(conditions, ' and ')}`
  const [rows, counted] = await Promise.all([
    sql`select ${columns} ${from} ${status === undefined ? nothing : sql`and d.status = ${status}`}
      order by d.created_at desc, d.id desc offset ${query.skip} limit ${query.take}`.rows<ListRow>(
      app.database.pool,
      undefined,
      isoTypes,
    ),
    sql`select d.status, count(*)::int as n ${from} group by d.status`.rows<{
      status: Deployment['status']
      n: number
    }>(app.database.pool),
  ])
  const counts: Counts = Object.fromEntries(counted.map((row) => [row.status, row.n]))
  return { rows, counts, total: status ? (counts[status] ?? 0) : sumBy(counts) }
}
