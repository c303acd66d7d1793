import { CruxError, type FinalContainerConfig, type ResponseInput } from '@crux/contract'
import { type Queries, raw, sql } from '../db/queries.ts'
import { releaseTitleSql } from '../db/release-title.ts'
import type { release, releaseInstance } from '../db/schema/index.ts'

export type ReleaseRow = Omit<typeof release.$inferSelect, 'sourceNumber' | 'eventsDropped' | 'deliveryIds'>
export const releaseColumns = sql`r.id, r.deployment_id, r.number, r.team_id,
  r.project_id, r.node_id, r.prefix, r.version_name,
  r.project_name, r.status, r.reason, r.recreate, r.partial, r.take_back_fields,
  r.host_dangerous_allowed, r.started_at, r.started_by_id,
  r.started_by_name, r.trigger, r.trigger_reason, r.override_freeze, r.dispatched_at, r.finished_at,
  r.cancel_requested_by, r.lease_until,
  r.acknowledged_sequence::float8 as acknowledged_sequence, r.current, r.container_names`

/** An instance of a release; the configuration is what its agent got, with all layers merged. */
export type ReleaseInstanceRow = Omit<
  typeof releaseInstance.$inferSelect,
  'id' | 'releaseId' | 'order' | 'phase' | 'phaseState' | 'config'
> & { config: FinalContainerConfig }

/** `dispatchedAt` is set when the caller sends it to the agent right after the commit. */
export type NewRelease = Omit<
  ReleaseRow,
  | 'id'
  | 'status'
  | 'reason'
  | 'startedAt'
  | 'finishedAt'
  | 'cancelRequestedBy'
  | 'acknowledgedSequence'
  | 'current'
  | 'containerNames'
> &
  Pick<typeof release.$inferSelect, 'sourceNumber' | 'deliveryIds'>
export type NewReleaseInstance = ReleaseInstanceRow & { order: number }

/**
 * Inserts the immutable release and its instances. The caller holds the lock of the deployment's row.
 *
 * @throws the database's error with the constraint `release_one_dispatched` for a dispatched release whose target has
 *   one already
 */
export const insertRelease = (queries: Queries, release: NewRelease, instances: readonly NewReleaseInstance[]) =>
  sql`with added as (
      insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
        recreate, partial, take_back_fields, host_dangerous_allowed, source_number, started_by_id, started_by_name, trigger,
        trigger_reason, override_freeze, delivery_ids, lease_until, dispatched_at)
      values (${release.deploymentId}, ${release.number}, ${release.teamId}, ${release.projectId}, ${release.nodeId},
        ${release.prefix}, ${release.versionName}, ${release.projectName}, ${release.recreate}, ${release.partial},
        ${release.takeBackFields}, ${release.hostDangerousAllowed}, ${release.sourceNumber}, ${release.startedById}, ${release.startedByName},
        ${release.trigger}, ${release.triggerReason}, ${release.overrideFreeze}, ${release.deliveryIds}::uuid[], ${release.leaseUntil},
        ${release.dispatchedAt}) returning *),
    members as (
      insert into crux.release_instance (release_id, instance_id, "order", registry_id, container_name, image_name,
        image_tag, local_only, digest, preparation_digests, config)
      select added.id, m."instanceId", m."order", m."registryId", m."containerName", m."imageName", m."imageTag",
        m."localOnly", m.digest, m."preparationDigests", m.config
      from added, jsonb_to_recordset(${JSON.stringify(instances)}::jsonb) as m("instanceId" uuid, "order" int,
        "registryId" uuid, "containerName" text, "imageName" text, "imageTag" text, "localOnly" boolean, digest text,
        "preparationDigests" jsonb, config jsonb))
    select ${releaseColumns} from added r`.one<ReleaseRow>(queries, 'insert release')

/** Sets the status of a start, which has the next number of the deployment. */
export const markStarted = (queries: Queries, deploymentId: string, number: number, userId: string) =>
  sql`update crux.deployment set status = 'in-progress', attempts = ${number}, deployed_at = now(),
      deployed_by = ${userId},
      outcome = null, updated_at = now(), updated_by = ${userId}
    where id = ${deploymentId}`.execute(queries, 'mark deployment started')

/**
 * Locks a release for writing. The deployment's row is locked first, as by every transaction that writes its events.
 *
 * @param where.nodeId only a release of this node is found
 */
export async function lockRelease(
  queries: Queries,
  where: { deploymentId: string; number: number; nodeId?: string },
): Promise<ReleaseRow | undefined> {
  await sql`select from crux.deployment where id = ${where.deploymentId} for update`.execute(queries, 'lock deployment')
  return sql`select ${releaseColumns} from crux.release r
    where r.deployment_id = ${where.deploymentId} and r.number = ${where.number}
    and (${where.nodeId ?? null}::uuid is null
    or r.node_id = ${where.nodeId ?? null}) for update`.first<ReleaseRow>(queries, 'lock release')
}

/**
 * All releases of a node that have not ended, in their order per prefix: first those that the agent has, then the
 * oldest. The start time of a release is set before its transaction waits for locks, so that a release that started
 * later may be stored earlier.
 */
export const openReleases = (queries: Queries, nodeId: string) =>
  sql`select ${releaseColumns} from crux.release r
    where r.node_id = ${nodeId} and r.status = 'in-progress'
    order by r.dispatched_at is null, r.started_at, r.id`.rows<ReleaseRow>(queries, 'open releases')

export const releaseInstances = (queries: Queries, releaseId: string) =>
  sql`select instance_id, registry_id, container_name,
      image_name, image_tag, local_only, digest,
      preparation_digests, config
    from crux.release_instance where release_id = ${releaseId}
    order by "order", instance_id`.rows<ReleaseInstanceRow>(queries, 'release instances')

export type Owner = { projectId: string; nodeId: string; prefix: string }
export type PreviousContainerRow = { containerName: string; instanceId: string; deploymentId: string; number: number }

/**
 * `columns` of each container `name` that runs at a node and prefix for a project, of the release `made`
 * that created it, and of its instance `ri` there.
 */
export const currentContainersSql = (columns: string, { nodeId, prefix, projectId }: Owner) =>
  sql`select distinct on (name) ${raw(columns)}
    from crux.release s
    cross join lateral jsonb_array_elements_text(s.container_names) as name
    join crux.release made on made.node_id = s.node_id and made.prefix = s.prefix and made.project_id = s.project_id
      and made.status = 'successful'
    join crux.release_instance ri on ri.release_id = made.id and made.prefix || '-' || ri.container_name = name
    where s.node_id = ${nodeId} and s.prefix = ${prefix} and s.project_id = ${projectId} and s.current
    order by name, made.finished_at desc nulls last`

/**
 * The current containers of an owner by the records of its releases, each with the successful release that created it:
 * after partial starts those are several.
 */
export const previousContainers = (queries: Queries, owner: Owner) =>
  currentContainersSql(
    'name as container_name, ri.instance_id, made.deployment_id, made.number',
    owner,
  ).rows<PreviousContainerRow>(queries, 'previous containers')

/** The release of a deployment whose containers run; undefined where those of another deployment do, or none. */
export const findRunningRelease = (queries: Queries, deploymentId: string) =>
  sql`select ${releaseColumns} from crux.release r
    where r.deployment_id = ${deploymentId} and r.current and r.container_names <> '[]'
    order by r.number desc limit 1`.first<ReleaseRow>(queries, 'running release')

/** The release whose containers stay in place after a failure; undefined where there was none. */
export const findCurrentRelease = (queries: Queries, owner: Owner) =>
  sql`select deployment_id, number, version_name from crux.release
    where node_id = ${owner.nodeId} and prefix = ${owner.prefix} and project_id = ${owner.projectId} and current
    and container_names <> '[]'`.first<{ deploymentId: string; number: number; versionName: string }>(
    queries,
    'current release',
  )

export const findRelease = (queries: Queries, deploymentId: string, number: number) =>
  sql`select ${releaseColumns} from crux.release r
    where r.deployment_id = ${deploymentId} and r.number = ${number}`.first<ReleaseRow>(queries)

export const selectStatus = (queries: Queries, { deploymentId, number }: { deploymentId: string; number: number }) =>
  sql`select status, reason from crux.release
    where deployment_id = ${deploymentId} and number = ${number}`.first<Pick<ReleaseRow, 'status' | 'reason'>>(
    queries,
    'status of a release',
  )

/** The newest release in progress at the deployment target, which the next one follows. */
export const findReleaseAhead = (queries: Queries, { nodeId, prefix }: Pick<Owner, 'nodeId' | 'prefix'>) =>
  sql`select r.number, ${releaseTitleSql('r')} as title from crux.release r
    where node_id = ${nodeId} and prefix = ${prefix} and status = 'in-progress'
    order by started_at desc, id desc limit 1`.first<{ number: number; title: string }>(queries, 'release ahead')

/** Nodes with releases that no server process has dispatched. */
export const nodesWithOrphans = (queries: Queries) =>
  sql`select distinct node_id from crux.release
    where status = 'in-progress' and dispatched_at is null`.column(queries)

/** @returns false when another process has dispatched it, or it has ended or was cancelled. */
export const markDispatched = async (queries: Queries, release: ReleaseRow, leaseUntil: Date): Promise<boolean> =>
  // An agent that repeatedly loses its releases does not extend the lease this way.
  (await sql`update crux.release set dispatched_at = now(),
      lease_until = case when dispatched_at is null then ${leaseUntil}::timestamptz else lease_until end
    where id = ${release.id} and status = 'in-progress' and cancel_requested_by is null
      and dispatched_at is not distinct from ${release.dispatchedAt}`.execute(queries, 'mark dispatched')) === 1

/** Writes what was stored before `markDispatched`. */
export const undoDispatch = (queries: Queries, { id, dispatchedAt, leaseUntil }: ReleaseRow) =>
  sql`update crux.release set dispatched_at = ${dispatchedAt}, lease_until = ${leaseUntil}
    where id = ${id}`.execute(queries)

export const requestCancel = (queries: Queries, releaseId: string, by: string) =>
  sql`update crux.release set cancel_requested_by = ${by} where id = ${releaseId}`.execute(queries)

type ListedRelease = ReleaseRow & {
  eventsDropped: boolean
  instances: ResponseInput<'deployments.releases'>[number]['instances']
}

/** The newest first. */
export const selectReleases = (queries: Queries, deploymentId: string) =>
  sql`select ${releaseColumns}, r.events_dropped, (
      select coalesce(json_agg(json_build_object('instanceId', ri.instance_id, 'containerName', ri.container_name,
        'imageName', ri.image_name, 'imageTag', ri.image_tag, 'digest', ri.digest) order by ri."order"), '[]')
      from crux.release_instance ri where ri.release_id = r.id) as instances
    from crux.release r where r.deployment_id = ${deploymentId}
    order by r.number desc limit 1000`.rows<ListedRelease>(queries, 'releases')

type Attempts = { attempts: number; versionId: string; prefix: string; position: number }

/**
 * The newest attempt of a deployment, and its last event.
 *
 * @throws CruxError notFound, also for a deployment of another team
 */
export async function findAttempts(queries: Queries, teamId: string, deploymentId: string): Promise<Attempts> {
  const row = await sql`select attempts, version_id, prefix, (
      select coalesce(max(position), 0)::float8 from crux.deployment_event e
      where e.deployment_id = d.id and e.attempt = d.attempts) as position
    from crux.deployment d where id = ${deploymentId} and team_id = ${teamId}`.first<Attempts>(
    queries,
    'attempts of a deployment',
  )
  if (!row) throw deploymentNotFound(deploymentId)
  return row
}

export const deploymentNotFound = (id: string) => new CruxError('notFound', { property: 'deploymentId', value: id })

/** What the head of a release in a log says, with the names of its containers by instance. */
export type ReleaseTitle = {
  number: number
  prefix: string
  title: string
  nodeName: string
  startedByName: string
  names: Record<string, string>
}

export const readReleaseTitles = (queries: Queries, deploymentId: string, numbers: readonly number[]) =>
  sql`select r.number, r.prefix, ${releaseTitleSql('r')} as title, n.name as node_name, r.started_by_name, (
        select coalesce(json_object_agg(ri.instance_id, ri.container_name), '{}')
        from crux.release_instance ri where ri.release_id = r.id) as names
    from crux.release r join crux.node n on n.id = r.node_id
    where r.deployment_id = ${deploymentId}
    and r.number = any(${numbers}::int[])`.rows<ReleaseTitle>(queries, 'release titles')
