import type { FinalContainerConfig } from '@crux/contract'
import type { Queries } from '../db/transaction.ts'

export type NewRelease = {
  deploymentId: string
  number: number
  teamId: string
  projectId: string
  nodeId: string
  prefix: string
  versionName: string
  projectName: string
  recreate: boolean
  partial: boolean
  hostDangerousAllowed: boolean
  sourceNumber: number | null
  startedById: string
  startedByName: string
  leaseUntil: Date
  /** Set when the caller sends it to the agent right after the commit. */
  dispatchedAt: Date | null
}
export type NewReleaseInstance = {
  instanceId: string
  order: number
  registryId: string | null
  containerName: string
  imageName: string
  imageTag: string
  localOnly: boolean
  digest: string | null
  preparationDigests: Record<string, string>
  config: FinalContainerConfig
}

/**
 * Inserts the immutable release and its instances. The caller holds the lock of the deployment's row.
 *
 * @throws the database's error with the constraint `release_one_dispatched` for a dispatched release whose target has one already
 */
export async function insertRelease(
  queries: Queries,
  release: NewRelease,
  instances: readonly NewReleaseInstance[],
): Promise<ReleaseRow> {
  const { rows } = await queries.query<ReleaseRow>({
    name: 'insert release',
    text: `with added as (
        insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
          recreate, partial, host_dangerous_allowed, source_number, started_by_id, started_by_name, lease_until, dispatched_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16) returning *),
      members as (
        insert into crux.release_instance (release_id, instance_id, "order", registry_id, container_name, image_name,
          image_tag, local_only, digest, preparation_digests, config)
        select added.id, m."instanceId", m."order", m."registryId", m."containerName", m."imageName", m."imageTag",
          m."localOnly", m.digest, m."preparationDigests", m.config
        from added, jsonb_to_recordset($17::jsonb) as m("instanceId" uuid, "order" int, "registryId" uuid,
          "containerName" text, "imageName" text, "imageTag" text, "localOnly" boolean, digest text,
          "preparationDigests" jsonb, config jsonb))
      select ${releaseColumns} from added r`,
    values: [
      release.deploymentId,
      release.number,
      release.teamId,
      release.projectId,
      release.nodeId,
      release.prefix,
      release.versionName,
      release.projectName,
      release.recreate,
      release.partial,
      release.hostDangerousAllowed,
      release.sourceNumber,
      release.startedById,
      release.startedByName,
      release.leaseUntil,
      release.dispatchedAt,
      JSON.stringify(instances),
    ],
  })
  const [inserted] = rows
  if (!inserted) throw new Error('an insert returns its row')
  return inserted
}

/** Sets the status of a start, which has the next number of the deployment. */
export const markStarted = (queries: Queries, deploymentId: string, number: number, userId: string) =>
  queries.query({
    name: 'mark deployment started',
    text: `update crux.deployment set status = 'in-progress', attempts = $2, deployed_at = now(), deployed_by = $3,
        outcome = null, updated_at = now(), updated_by = $3
      where id = $1`,
    values: [deploymentId, number, userId],
  })

export type ReleaseRow = {
  id: string
  deploymentId: string
  number: number
  teamId: string
  projectId: string
  nodeId: string
  prefix: string
  versionName: string
  projectName: string
  status: 'in-progress' | 'successful' | 'failed'
  reason: string | null
  recreate: boolean
  partial: boolean
  hostDangerousAllowed: boolean
  startedAt: Date
  startedById: string
  startedByName: string
  dispatchedAt: Date | null
  finishedAt: Date | null
  cancelRequestedBy: string | null
  leaseUntil: Date | null
  acknowledgedSequence: number
  current: boolean
  containerNames: string[]
}
export const releaseColumns = `r.id, r.deployment_id, r.number, r.team_id,
  r.project_id, r.node_id, r.prefix, r.version_name,
  r.project_name, r.status, r.reason, r.recreate, r.partial,
  r.host_dangerous_allowed, r.started_at, r.started_by_id,
  r.started_by_name, r.dispatched_at, r.finished_at,
  r.cancel_requested_by, r.lease_until,
  r.acknowledged_sequence::float8 as acknowledged_sequence, r.current, r.container_names`

/**
 * Locks a release for writing. The deployment's row is locked first, as by every transaction that writes its events.
 *
 * @param where.nodeId only a release of this node is found
 */
export async function lockRelease(
  queries: Queries,
  where: { deploymentId: string; number: number; nodeId?: string },
): Promise<ReleaseRow | undefined> {
  await queries.query({
    name: 'lock deployment',
    text: 'select from crux.deployment where id = $1 for update',
    values: [where.deploymentId],
  })
  const { rows } = await queries.query<ReleaseRow>({
    name: 'lock release',
    text: `select ${releaseColumns} from crux.release r
      where r.deployment_id = $1 and r.number = $2 and ($3::uuid is null or r.node_id = $3) for update`,
    values: [where.deploymentId, where.number, where.nodeId ?? null],
  })
  return rows[0]
}

/**
 * All releases of a node that have not ended, in their order per prefix: first those that the agent has, then the
 * oldest. The start time of a release is set before its transaction waits for locks, so that a release that started
 * later may be stored earlier.
 */
export async function openReleases(queries: Queries, nodeId: string): Promise<ReleaseRow[]> {
  const { rows } = await queries.query<ReleaseRow>({
    name: 'open releases',
    text: `select ${releaseColumns} from crux.release r
      where r.node_id = $1 and r.status = 'in-progress' order by r.dispatched_at is null, r.started_at, r.id`,
    values: [nodeId],
  })
  return rows
}

export type ReleaseInstanceRow = Omit<NewReleaseInstance, 'order'>
export async function releaseInstances(queries: Queries, releaseId: string): Promise<ReleaseInstanceRow[]> {
  const { rows } = await queries.query<ReleaseInstanceRow>({
    name: 'release instances',
    text: `select instance_id, registry_id, container_name,
        image_name, image_tag, local_only, digest,
        preparation_digests, config
      from crux.release_instance where release_id = $1 order by "order", instance_id`,
    values: [releaseId],
  })
  return rows
}

export type Owner = { projectId: string; nodeId: string; prefix: string }
export type PreviousContainerRow = { containerName: string; instanceId: string; deploymentId: string; number: number }

/**
 * `columns` of each container `name` that runs at a node and prefix for a project ($1 to $3), of the release `made`
 * that created it, and of its instance `ri` there.
 */
export const currentContainersSql = (columns: string): string => `select distinct on (name) ${columns}
  from crux.release s
  cross join lateral jsonb_array_elements_text(s.container_names) as name
  join crux.release made on made.node_id = s.node_id and made.prefix = s.prefix and made.project_id = s.project_id
    and made.status = 'successful'
  join crux.release_instance ri on ri.release_id = made.id and made.prefix || '-' || ri.container_name = name
  where s.node_id = $1 and s.prefix = $2 and s.project_id = $3 and s.current
  order by name, made.finished_at desc nulls last`

/**
 * The current containers of an owner by the records of its releases, each with the successful release that created it:
 * after partial starts those are several.
 */
export async function previousContainers(queries: Queries, owner: Owner): Promise<PreviousContainerRow[]> {
  const { rows } = await queries.query<PreviousContainerRow>({
    name: 'previous containers',
    text: currentContainersSql(`name as container_name, ri.instance_id, made.deployment_id, made.number`),
    values: [owner.nodeId, owner.prefix, owner.projectId],
  })
  return rows
}

/** The release whose containers stay in place after a failure; undefined where there was none. */
export async function findCurrentRelease(
  queries: Queries,
  owner: Owner,
): Promise<{ deploymentId: string; number: number; versionName: string } | undefined> {
  const { rows } = await queries.query<{ deploymentId: string; number: number; versionName: string }>({
    name: 'current release',
    text: `select deployment_id, number, version_name from crux.release
      where node_id = $1 and prefix = $2 and project_id = $3 and current and container_names <> '[]'`,
    values: [owner.nodeId, owner.prefix, owner.projectId],
  })
  return rows[0]
}
