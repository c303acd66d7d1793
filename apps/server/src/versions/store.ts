import type { DeploymentStatus, NodeType, ProjectType, ResponseInput, VersionType } from '@crux/contract'
import { isVersionIncreasable, type VersionFacts } from '@crux/rules'
import type { Queries } from '../db/transaction.ts'
import { type LastReleaseRow, lastReleaseColumns } from '../deployments/index.ts'

export type VersionRow = {
  id: string
  name: string
  type: VersionType
  changelog: string | null
  default: boolean
  autoCopyDeployments: boolean
  chainId: string | null
  createdAt: Date
  createdBy: string
  updatedAt: Date
  updatedBy: string
  projectId: string
  projectType: ProjectType
  hasChild: boolean
  statuses: DeploymentStatus[]
  imageCount: number
  deploymentCount: number
}
type Version = ResponseInput<'versions.create'>

const columns = `v.id, v.name, v.type, v.changelog, v."default", v.auto_copy_deployments,
  v.chain_id, v.created_at, v.created_by, v.updated_at,
  v.updated_by, p.id as project_id, p.type as project_type,
  exists (select from crux.version child where child.parent_id = v.id) as has_child,
  array(select distinct d.status from crux.deployment d where d.version_id = v.id) as statuses,
  (select count(*)::int from crux.image i where i.version_id = v.id) as image_count,
  (select count(*)::int from crux.deployment d where d.version_id = v.id) as deployment_count`

/** In the order of their creation. */
export async function selectVersions(
  queries: Queries,
  projectId: string,
  nameContains?: string,
): Promise<VersionRow[]> {
  const { rows } = await queries.query<VersionRow>({
    name: nameContains === undefined ? 'versions' : 'versions named',
    text: `select ${columns} from crux.version v join crux.project p on p.id = v.project_id where v.project_id = $1
      ${nameContains === undefined ? '' : 'and position($2 in v.name) > 0'} order by v.id`,
    values: nameContains === undefined ? [projectId] : [projectId, nameContains],
  })
  return rows
}

export type VersionKey = { teamId: string; projectId: string; versionId: string }

/** @param lock prevents changes of images, deployments and other versions that the caller's decision depends on */
export async function selectVersion(queries: Queries, key: VersionKey, lock = false): Promise<VersionRow | undefined> {
  if (lock) await queries.query('select from crux.version where id = $1 for update', [key.versionId])
  const { rows } = await queries.query<VersionRow>({
    name: 'version',
    text: `select ${columns} from crux.version v join crux.project p on p.id = v.project_id
      where v.id = $1 and p.id = $2 and p.team_id = $3`,
    values: [key.versionId, key.projectId, key.teamId],
  })
  return rows[0]
}

export type NewVersion = {
  projectId: string
  name: string
  changelog: string | null
  type: VersionType
  isDefault: boolean
  autoCopyDeployments: boolean
  parentId: string | null
  /** Null starts a new chain, if the type has chains. */
  chainId: string | null
  by: string
}

export async function insertVersion(queries: Queries, version: NewVersion): Promise<string> {
  const { rows } = await queries.query<{ id: string }>(
    `with made as (select uuidv7() as id)
     insert into crux.version (id, project_id, name, changelog, type, "default", auto_copy_deployments, parent_id, chain_id, created_by, updated_by)
     select made.id, $1, $2, $3, $4::text, $5, $6, $7::uuid, case when $4::text = 'incremental' then coalesce($8::uuid, made.id) end, $9, $9
     from made returning id`,
    [
      version.projectId,
      version.name,
      version.changelog,
      version.type,
      version.isDefault,
      version.autoCopyDeployments,
      version.parentId,
      version.chainId,
      version.by,
    ],
  )
  if (!rows[0]) throw new Error('the insert of a version returned no row')
  return rows[0].id
}

export async function selectDefault(queries: Queries, projectId: string): Promise<string | undefined> {
  const { rows } = await queries.query<{ id: string }>(
    'select id from crux.version where project_id = $1 and "default"',
    [projectId],
  )
  return rows[0]?.id
}

export async function updateDefault(queries: Queries, projectId: string, versionId: string, by: string): Promise<void> {
  // Two statements, because two versions must never be the default at the same time.
  await queries.query('update crux.version set "default" = false where project_id = $1 and "default"', [projectId])
  await queries.query('update crux.version set "default" = true, updated_by = $2, updated_at = now() where id = $1', [
    versionId,
    by,
  ])
}

export async function updateVersion(
  queries: Queries,
  id: string,
  values: { name: string; changelog: string | null; autoCopyDeployments: boolean | null; by: string },
): Promise<void> {
  await queries.query(
    `update crux.version set name = $2, changelog = $3, auto_copy_deployments = coalesce($4, auto_copy_deployments),
      updated_by = $5, updated_at = now() where id = $1`,
    [id, values.name, values.changelog, values.autoCopyDeployments, values.by],
  )
}

export const deleteVersion = (queries: Queries, id: string) =>
  queries.query('delete from crux.version where id = $1', [id])

export type VersionDeploymentRow = LastReleaseRow & {
  id: string
  prefix: string
  protected: boolean
  status: DeploymentStatus
  note: string | null
  createdAt: Date
  createdBy: string
  updatedAt: Date
  updatedBy: string
  node: { id: string; name: string; type: NodeType; linkServer: string | null; agentVersion: string | null }
}

/** The newest come first. */
export async function selectDeployments(queries: Queries, versionId: string): Promise<VersionDeploymentRow[]> {
  const { rows } = await queries.query<VersionDeploymentRow>({
    name: 'deployments of version',
    text: `select d.id, d.prefix, d.protected, d.status, d.note, d.created_at, d.created_by,
        d.updated_at, d.updated_by,
        json_build_object('id', n.id, 'name', n.name, 'type', n.type, 'linkServer', n.link_server, 'agentVersion', n.agent_version) as node,
        ${lastReleaseColumns}
      from crux.deployment d join crux.node n on n.id = d.node_id where d.version_id = $1 order by d.id desc`,
    values: [versionId],
  })
  return rows
}

export const factsOf = (row: VersionRow): VersionFacts => ({
  type: row.type,
  projectType: row.projectType,
  hasChild: row.hasChild,
  deploymentStatuses: row.statuses,
})

export const toVersion = (row: VersionRow): Version => ({
  id: row.id,
  name: row.name,
  type: row.type,
  changelog: row.changelog,
  default: row.default,
  increasable: isVersionIncreasable(factsOf(row)),
  imageCount: row.imageCount,
  deploymentCount: row.deploymentCount,
  audit: toAudit(row),
})

export const toAudit = (row: Pick<VersionRow, 'createdAt' | 'createdBy' | 'updatedAt' | 'updatedBy'>) => ({
  createdAt: row.createdAt.toISOString(),
  createdBy: row.createdBy,
  updatedAt: row.updatedAt.toISOString(),
  updatedBy: row.updatedBy,
})
