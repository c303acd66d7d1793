import { CruxError, type Deployment, type Query, type ResponseInput } from '@crux/contract'
import { isoTypes } from '@crux/postgres'
import type { TeamContext } from '../access/index.ts'
import { findBundle } from '../config-bundles/index.ts'
import type { App } from '../context.ts'
import { type Counts, type CountsJson, countByStatus, countsJson, scheduleRollup, sumOf } from './counts.ts'
import { type LastReleaseRow, lastReleaseColumns, toLastRelease } from './last-release.ts'

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

const columns = `d.id, d.prefix, d.protected, d.status, d.note, d.created_at,
  d.created_by, d.updated_at, d.updated_by, n.id as node_id,
  n.name as node_name, n.type as node_type, p.id as project_id, p.name as project_name, p.type as project_type,
  v.id as version_id, v.name as version_name, v.type as version_type, ${lastReleaseColumns}`

const joins = `join crux.node n on n.id = d.node_id
  join crux.project p on p.id = d.project_id
  join crux.version v on v.id = d.version_id`

/** The page is selected from the deployments alone, by the index of newest ones; names are joined for its rows. */
export const listSql = `
  select ${columns}, ${countsJson} as counted
  from (select * from crux.deployment where team_id = $1
    order by created_at desc, id desc offset $2 limit $3) d
  ${joins} order by d.created_at desc, d.id desc`

/** Newest first, with counts by status and, unfiltered, everything in one prepared statement. */
export async function listDeployments(
  app: App,
  team: TeamContext,
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
  team: TeamContext,
  nodeId: string,
): Promise<ResponseInput<'nodes.deployments'>> {
  const { rowCount } = await app.database.pool.query('select from crux.node where id = $1 and team_id = $2', [
    nodeId,
    team.id,
  ])
  if (rowCount === 0) throw new CruxError('notFound', { property: 'nodeId', value: nodeId })
  const rows = await app.database.sharedRead<ListRow>({
    name: 'deployments of a node',
    types: isoTypes,
    text: `select ${columns} from (select * from crux.deployment where node_id = $1 and team_id = $2
        order by created_at desc, id desc limit 1000) d
      ${joins} order by d.created_at desc, d.id desc`,
    values: [nodeId, team.id],
  })
  return toDeployments(app, rows)
}

/** Deployments with a bundle, newest first. @throws CruxError notFound */
export async function listOfBundle(
  app: App,
  team: TeamContext,
  configBundleId: string,
): Promise<ResponseInput<'config-bundles.deployments'>> {
  await findBundle(app.database.pool, team, configBundleId)
  const rows = await app.database.sharedRead<ListRow>({
    name: 'deployments of a bundle',
    types: isoTypes,
    text: `select ${columns} from (
        select one.* from crux.deployment_config_bundle l join crux.deployment one on one.id = l.deployment_id
        where l.config_bundle_id = $1 and one.team_id = $2
        order by one.created_at desc, one.id desc limit 1000) d
      ${joins} order by d.created_at desc, d.id desc`,
    values: [configBundleId, team.id],
  })
  return toDeployments(app, rows)
}

export async function findListRow(app: App, teamId: string, deploymentId: string): Promise<ListRow | undefined> {
  const { rows } = await app.database.pool.query<ListRow>({
    name: 'deployment row',
    types: isoTypes,
    text: `select ${columns} from crux.deployment d ${joins} where d.id = $1 and d.team_id = $2`,
    values: [deploymentId, teamId],
  })
  return rows[0]
}

export async function toDeployments(app: App, rows: readonly ListRow[]): Promise<Deployment[]> {
  const people = await app.identity.people(rows.map((row) => row.updatedBy))
  return rows.map((row) => toDeployment(row, people.get(row.updatedBy)?.name))
}

function toDeployment(row: ListRow, updatedByName: string | undefined): Deployment {
  return {
    id: row.id,
    prefix: row.prefix,
    protected: row.protected,
    status: row.status,
    note: row.note,
    audit: {
      createdAt: row.createdAt,
      createdBy: row.createdBy,
      updatedAt: row.updatedAt,
      updatedBy: row.updatedBy,
    },
    node: { id: row.nodeId, name: row.nodeName, type: row.nodeType },
    project: { id: row.projectId, name: row.projectName, type: row.projectType },
    version: { id: row.versionId, name: row.versionName, type: row.versionType },
    ...toLastRelease(row),
    updatedByName: updatedByName ?? null,
  }
}

type Found = { rows: readonly ListRow[]; counts: Counts; total: number }

async function findAll(app: App, team: TeamContext, { skip, take }: ListQuery): Promise<Found> {
  const rows = await app.database.sharedRead<ListRow & { counted: CountsJson }>({
    name: 'deployments',
    types: isoTypes,
    text: listSql,
    values: [team.id, skip, take],
  })
  // Beyond the last page there is no row with the counts.
  const counted = rows[0]?.counted ?? (await countByStatus(app.database.pool, team.id))
  scheduleRollup(app, team.id, counted)
  return { rows, counts: counted.counts, total: sumOf(counted.counts) }
}

/** Filters also match the names of node, version and project; the counts follow the filter, but not the chosen status. */
async function findFiltered(app: App, team: TeamContext, query: ListQuery): Promise<Found> {
  const values: unknown[] = [team.id]
  const given = (value: unknown) => `$${values.push(value)}`
  const conditions = ['d.team_id = $1']
  if (query.nodeId !== undefined) conditions.push(`d.node_id = ${given(query.nodeId)}`)
  if (query.filter !== undefined) {
    const pattern = given(`%${query.filter.replace(/[\\%_]/g, '\\$&')}%`)
    const names = ['d.prefix', 'n.name', 'v.name', 'p.name'].map((name) => `${name} ilike ${pattern}`)
    conditions.push(`(${names.join(' or ')})`)
  }
  if (query.configBundleId !== undefined)
    conditions.push(`d.id in (
      select deployment_id from crux.deployment_config_bundle where config_bundle_id = ${given(query.configBundleId)})`)
  const where = `where ${conditions.join(' and ')}`
  const [status, skip, take] = [1, 2, 3].map((at) => `$${values.length + at}`)
  const [page, counted] = await Promise.all([
    app.database.pool.query<ListRow>({
      types: isoTypes,
      text: `select ${columns} from crux.deployment d ${joins} ${where} and (${status}::text is null or d.status = ${status})
        order by d.created_at desc, d.id desc offset ${skip} limit ${take}`,
      values: [...values, query.status ?? null, query.skip, query.take],
    }),
    app.database.pool.query<{ status: Deployment['status']; n: number }>(
      `select d.status, count(*)::int as n from crux.deployment d ${joins} ${where} group by d.status`,
      values,
    ),
  ])
  const counts: Counts = Object.fromEntries(counted.rows.map((row) => [row.status, row.n]))
  return { rows: page.rows, counts, total: query.status ? (counts[query.status] ?? 0) : sumOf(counts) }
}
