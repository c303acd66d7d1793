import type { DeploymentStatus, VersionType } from '@crux/contract'
import { type Queries, type Sql, sql } from '../db/queries.ts'

type Place = { environmentId: string; chainId: string }
type Basic = { id: string; name: string; type: VersionType }
export type RunningRow = Place & {
  version: Basic
  deploymentId: string
  releaseNumber: number
  deployedAt: Date
  deployedBy: string
}
export type LatestRow = Place & {
  deploymentId: string
  version: Basic
  status: DeploymentStatus
  outcome: string | null
  updatedAt: Date
}
/** All environments of a package, or one of them. */
export type Environments = { packageId: string } | { environmentId: string }

const among = (which: Environments): Sql =>
  'packageId' in which ? sql`e.package_id = ${which.packageId}` : sql`e.id = ${which.environmentId}`
const version = sql`json_build_object('id', v.id, 'name', v.name, 'type', v.type) as version`

/**
 * The version of each chain whose containers run in each environment, by the records. A release names its version by a
 * text only, so that the version is that of its deployment.
 */
export const selectRunning = (queries: Queries, which: Environments) =>
  sql`select e.id as environment_id, c.chain_id, ${version}, r.deployment_id, r.number as release_number,
      coalesce(r.finished_at, r.started_at) as deployed_at, r.started_by_name as deployed_by
    from crux.package_environment e
    join crux.package_chain c on c.package_id = e.package_id
    join crux.release r on r.node_id = e.node_id and r.prefix = e.prefix and r.project_id = c.project_id
      and r.current and r.container_names <> '[]'
    join crux.deployment d on d.id = r.deployment_id
    join crux.version v on v.id = d.version_id and v.chain_id = c.chain_id
    where ${among(which)}`.rows<RunningRow>(queries, `running in environments ${Object.keys(which)}`)

/**
 * The deployment of each chain in each environment that changed last. Obsolete ones do not count: they change in the
 * transaction that makes another one successful.
 */
export const selectLatest = (queries: Queries, packageId: string) =>
  sql`select distinct on (e.id, c.chain_id) e.id as environment_id, c.chain_id, d.id as deployment_id, ${version},
      d.status, d.outcome, d.updated_at
    from crux.package_environment e
    join crux.package_chain c on c.package_id = e.package_id
    join crux.deployment d on d.node_id = e.node_id and d.prefix = e.prefix and d.project_id = c.project_id
      and d.status <> 'obsolete'
    join crux.version v on v.id = d.version_id and v.chain_id = c.chain_id
    where e.package_id = ${packageId}
    order by e.id, c.chain_id, d.updated_at desc, d.id desc`.rows<LatestRow>(queries, 'latest in environments')

export type ChainDeploymentRow = {
  versionId: string
  id: string
  prefix: string
  protected: boolean
  status: DeploymentStatus
  createdAt: Date
  createdBy: string
  updatedAt: Date
  updatedBy: string
}
/** The deployment of each version in the environment that changed last. */
export const selectChainDeployments = (queries: Queries, environmentId: string) =>
  sql`select distinct on (d.version_id) d.version_id, d.id, d.prefix, d.protected, d.status, d.created_at,
      d.created_by, d.updated_at, d.updated_by
    from crux.package_environment e
    join crux.package_chain c on c.package_id = e.package_id
    join crux.deployment d on d.node_id = e.node_id and d.prefix = e.prefix and d.project_id = c.project_id
    join crux.version v on v.id = d.version_id and v.chain_id = c.chain_id
    where e.id = ${environmentId}
    order by d.version_id, d.updated_at desc, d.id desc`.rows<ChainDeploymentRow>(queries, 'deployments in environment')
