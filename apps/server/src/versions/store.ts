import type { DeploymentStatus, NodeType, ProjectType, VersionType } from '@crux/contract'
import { isVersionIncreasable } from '@crux/rules'
import { nothing, type Queries, sql } from '../db/queries.ts'
import type { version } from '../db/schema/index.ts'
import { type LastReleaseRow, lastReleaseColumns } from '../deployments/index.ts'
import { isUpdatingSql } from '../nodes/index.ts'

export type VersionRow = Omit<typeof version.$inferSelect, 'parentId'> & {
  projectType: ProjectType
  hasChild: boolean
  deploymentStatuses: DeploymentStatus[]
  imageCount: number
  deploymentCount: number
}

const columns = sql`v.id, v.name, v.type, v.changelog, v."default", v.auto_copy_deployments,
  v.chain_id, v.created_at, v.created_by, v.updated_at,
  v.updated_by, p.id as project_id, p.type as project_type,
  exists (select from crux.version child where child.parent_id = v.id) as has_child,
  array(select distinct d.status from crux.deployment d where d.version_id = v.id) as deployment_statuses,
  (select count(*)::int from crux.image i where i.version_id = v.id) as image_count,
  (select count(*)::int from crux.deployment d where d.version_id = v.id) as deployment_count`

/** In the order of their creation. */
export const selectVersions = (queries: Queries, projectId: string, nameContains?: string) =>
  sql`select ${columns} from crux.version v join crux.project p on p.id = v.project_id
    where v.project_id = ${projectId}
      ${nameContains === undefined ? nothing : sql`and position(${nameContains} in v.name) > 0`}
    order by v.id`.rows<VersionRow>(queries, nameContains === undefined ? 'versions' : 'versions named')

export type VersionKey = { teamId: string; projectId: string; versionId: string }

/** @param lock prevents changes of images, deployments and other versions that the caller's decision depends on */
export async function selectVersion(queries: Queries, key: VersionKey, lock = false): Promise<VersionRow | undefined> {
  if (lock) await sql`select from crux.version where id = ${key.versionId} for update`.execute(queries)
  return sql`select ${columns} from crux.version v join crux.project p on p.id = v.project_id
    where v.id = ${key.versionId} and p.id = ${key.projectId}
    and p.team_id = ${key.teamId}`.first<VersionRow>(queries, 'version')
}

export type NewVersion = {
  projectId: string
  name: string
  changelog: string | null
  type: VersionType
  isDefault: boolean
  autoCopyDeployments: boolean
  /** Without one the version starts a new chain, if its type has chains. */
  parent?: Pick<VersionRow, 'id' | 'chainId'>
  by: string
}

export const insertVersion = (queries: Queries, version: NewVersion) =>
  sql`with made as (select uuidv7() as id)
    insert into crux.version (id, project_id, name, changelog, type, "default", auto_copy_deployments, parent_id,
      chain_id, created_by, updated_by)
    select made.id, ${version.projectId}, ${version.name}, ${version.changelog}, ${version.type}::text,
    ${version.isDefault}, ${version.autoCopyDeployments}, ${version.parent?.id ?? null}::uuid,
    case when ${version.type}::text = 'incremental' then coalesce(${version.parent?.chainId ?? null}::uuid, made.id) end,
    ${version.by}, ${version.by}
    from made returning id`.id(queries)

export const selectProjectName = async (queries: Queries, projectId: string): Promise<string> =>
  (await sql`select name from crux.project where id = ${projectId}`.value(queries, 'name of a project')) ?? ''

export const selectDefault = (queries: Queries, projectId: string) =>
  sql`select id from crux.version
    where project_id = ${projectId} and "default"`.value<string>(queries)

export async function updateDefault(queries: Queries, projectId: string, versionId: string, by: string): Promise<void> {
  // Two statements, because two versions must never be the default at the same time.
  await sql`update crux.version set "default" = false where project_id = ${projectId} and "default"`.execute(queries)
  await sql`update crux.version set "default" = true, updated_by = ${by}, updated_at = now()
    where id = ${versionId}`.execute(queries)
}

export const updateVersion = (
  queries: Queries,
  id: string,
  values: { name: string; changelog: string | null; autoCopyDeployments: boolean | null; by: string },
) =>
  sql`update crux.version set name = ${values.name}, changelog = ${values.changelog},
    auto_copy_deployments = coalesce(${values.autoCopyDeployments}, auto_copy_deployments),
    updated_by = ${values.by}, updated_at = now() where id = ${id}`.execute(queries)

export const deleteVersion = (queries: Queries, id: string) =>
  sql`delete from crux.version where id = ${id}`.execute(queries)

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
  node: {
    id: string
    name: string
    type: NodeType
    linkServer: string | null
    agentVersion: string | null
    updating: boolean
  }
}

/** The newest come first. */
export const selectDeployments = (queries: Queries, versionId: string) =>
  sql`select d.id, d.prefix, d.protected, d.status, d.note, d.created_at, d.created_by,
      d.updated_at, d.updated_by,
      json_build_object('id', n.id, 'name', n.name, 'type', n.type, 'linkServer', n.link_server, 'agentVersion',
        n.agent_version, 'updating', ${isUpdatingSql}) as node,
      ${lastReleaseColumns}
    from crux.deployment d
    join crux.node n on n.id = d.node_id
    where d.version_id = ${versionId} order by d.id desc`.rows<VersionDeploymentRow>(queries, 'deployments of version')

export const toVersion = (row: VersionRow) => ({ ...row, increasable: isVersionIncreasable(row), audit: row })
