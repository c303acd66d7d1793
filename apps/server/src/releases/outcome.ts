import { formatDuration, releaseDurationMs } from '@crux/rules'
import type { Queries } from '../db/transaction.ts'
import { appendEvents, dropPullSteps, logEvent, statusEvent } from './event-store.ts'
import type { DeploymentUpdate } from './events.ts'
import { lockRelease, type ReleaseRow } from './store.ts'

/** The outcome of a release. */
export type End =
  | { kind: 'successful'; containerNames: string[] }
  /** `expired`: the lease ran out. A later report of the agent corrects the outcome. */
  | { kind: 'failed'; reason: string; expired?: boolean }

/**
 * Writes the end of a release and the resulting state of its deployment, but no events.
 *
 * @returns the changes, undefined when the release had ended already
 */
export async function endRelease(queries: Queries, key: ReleaseRow, end: End): Promise<DeploymentUpdate | undefined> {
  const release = await lockRelease(queries, key)
  if (!release || !isOpen(release)) return undefined
  const failed = end.kind === 'failed'
  // A lease that remains in the row marks the end as provisional.
  await queries.query({
    name: 'end release',
    text: `update crux.release set status = $2, reason = $3, finished_at = now(),
        lease_until = case when $4 then lease_until end where id = $1`,
    values: [release.id, end.kind, failed ? end.reason : null, failed && end.expired === true],
  })
  if (end.kind === 'successful') await markCurrent(queries, release, end.containerNames)
  await dropPullSteps(queries, release.deploymentId, release.number)
  const outcome = failed ? end.reason : await successText(queries, release)
  const { rowCount } = await queries.query({
    name: 'end deployment',
    text: `update crux.deployment set status = $3, outcome = $4, updated_at = now()
      where id = $1 and attempts = $2 and status in ('in-progress', 'failed')`,
    values: [release.deploymentId, release.number, end.kind, outcome],
  })
  const updates: DeploymentUpdate = { deploymentId: release.deploymentId, teamId: release.teamId }
  return rowCount === 1 ? { ...updates, status: end.kind } : updates
}

/** In progress, or ended only by its lease. */
export const isOpen = (release: ReleaseRow): boolean =>
  release.status === 'in-progress' || (release.status === 'failed' && release.leaseUntil !== null)

/**
 * Marks the deployments that a success makes obsolete: other deployments of this version at this deployment target,
 * those of the versions it was increased from, and those whose containers were taken over.
 *
 * @returns the events of each, appended already
 */
export async function makeObsolete(queries: Queries, release: ReleaseRow): Promise<DeploymentUpdate[]> {
  const { rows } = await queries.query<{ id: string; attempts: number }>({
    name: 'make obsolete',
    text: `with recursive me as (
        select d.id, d.version_id, v.type from crux.deployment d join crux.version v on v.id = d.version_id where d.id = $1),
      lineage as (
        select me.version_id as id, me.type from me
        union all
        select v.parent_id, l.type from lineage l join crux.version v on v.id = l.id
        where l.type = 'incremental' and v.parent_id is not null)
      update crux.deployment d set status = 'obsolete', outcome = $5, updated_at = now()
      where d.node_id = $2 and d.prefix = $3 and d.id <> $1 and d.status in ('successful', 'failed')
        and (d.version_id in (select id from lineage)
          or ($4::boolean and d.status = 'successful' and d.project_id = $6))
      returning d.id, d.attempts`,
    values: [
      release.deploymentId,
      release.nodeId,
      release.prefix,
      !release.partial,
      `replaced by ${release.versionName}`,
      release.projectId,
    ],
  })
  const updates: DeploymentUpdate[] = []
  for (const { id, attempts } of rows) {
    const position = await appendEvents(queries, id, attempts, [
      logEvent(`Replaced by ${release.versionName}`),
      statusEvent('obsolete', `replaced by ${release.versionName}`),
    ])
    updates.push({ deploymentId: id, teamId: release.teamId, status: 'obsolete', try: attempts, position })
  }
  return updates
}

/** Records which containers run on the node now: after a partial start, also those that were not part of it. */
async function markCurrent(queries: Queries, release: ReleaseRow, containerNames: string[]): Promise<void> {
  // The deployment is locked before its releases, as in every transaction; the previous release mostly belongs to
  // another deployment.
  await queries.query({
    name: 'deployments that stand',
    text: `select from crux.deployment where id in (select deployment_id from crux.release
        where node_id = $1 and prefix = $2 and project_id = $3 and current) order by id for update`,
    values: [release.nodeId, release.prefix, release.projectId],
  })
  const { rows } = await queries.query<{ names: string[] }>(
    `update crux.release set current = false
     where node_id = $1 and prefix = $2 and project_id = $3 and current and id <> $4
     returning container_names as names`,
    [release.nodeId, release.prefix, release.projectId, release.id],
  )
  const inherited = release.partial ? rows.flatMap((row) => row.names) : []
  await queries.query('update crux.release set current = true, container_names = $2 where id = $1', [
    release.id,
    JSON.stringify([...new Set([...containerNames, ...inherited])]),
  ])
}

/** "4 images, 6.1 s". Uses the same times as the list of releases, so that a release has one duration everywhere. */
async function successText(queries: Queries, release: ReleaseRow): Promise<string> {
  const { rows } = await queries.query<{ images: number; finishedAt: Date }>(
    `select (select count(*)::int from crux.release_instance where release_id = r.id) as images,
        r.finished_at from crux.release r where r.id = $1`,
    [release.id],
  )
  const { images = 0, finishedAt = null } = rows[0] ?? {}
  const took = releaseDurationMs({ startedAt: release.startedAt, dispatchedAt: release.dispatchedAt, finishedAt })
  return `${images} ${images === 1 ? 'image' : 'images'}, ${formatDuration(took ?? 0)}`
}
