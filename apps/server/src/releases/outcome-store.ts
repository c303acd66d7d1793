import { formatDuration, releaseDurationMs } from '@crux/rules'
import type { App } from '../context.ts'
import { type Queries, sql } from '../db/queries.ts'
import { recordTeamEvent } from '../team-events/index.ts'
import { appendEvents, dropPullSteps, logEvent, type NewEvent, statusEvent } from './event-store.ts'
import type { DeploymentUpdate } from './events.ts'
import { lockRelease, type ReleaseRow } from './store.ts'

/** The outcome of a release. */
export type End =
  | { kind: 'successful'; containerNames: string[] }
  /** `expired`: the lease ran out. A later report of the agent corrects the outcome. */
  | { kind: 'failed'; reason: string; expired?: boolean }

/**
 * Writes the end of a release and the resulting state of its deployment, but no events of its log.
 *
 * @returns the changes, undefined when the release had ended already
 */
export async function endRelease(
  app: Pick<App, 'jobs'>,
  queries: Queries,
  key: ReleaseRow,
  end: End,
): Promise<DeploymentUpdate | undefined> {
  const release = await lockRelease(queries, key)
  if (!release || !isOpen(release)) return undefined
  const failed = end.kind === 'failed'
  // A lease that remains in the row marks the end as provisional.
  await sql`update crux.release set status = ${end.kind}, reason = ${failed ? end.reason : null}, finished_at = now(),
    lease_until = case when ${failed && end.expired === true} then lease_until end
    where id = ${release.id}`.execute(queries, 'end release')
  if (end.kind === 'successful') await markCurrent(queries, release, end.containerNames)
  await dropPullSteps(queries, release.deploymentId, release.number)
  const outcome = failed ? end.reason : await successText(queries, release)
  const rowCount = await sql`update crux.deployment set status = ${end.kind}, outcome = ${outcome}, updated_at = now()
    where id = ${release.deploymentId} and attempts = ${release.number}
    and status in ('in-progress', 'failed')`.execute(queries, 'end deployment')
  await recordEnd(app, queries, release, end)
  const updates: DeploymentUpdate = { deploymentId: release.deploymentId, teamId: release.teamId }
  return rowCount === 1 ? { ...updates, status: end.kind } : updates
}

/**
 * The end of a lease is provisional: if the agent reports a success later, that is a second event with another key, and
 * the same end that is reported again has the same key.
 */
async function recordEnd(app: Pick<App, 'jobs'>, queries: Queries, release: ReleaseRow, end: End): Promise<void> {
  const nodeName = await sql`select name from crux.node where id = ${release.nodeId}`.value(queries, 'name of a node')
  await recordTeamEvent(app, queries, {
    type: 'deployment-status',
    key: `deployment-status ${release.id} ${end.kind}`,
    teamId: release.teamId,
    at: new Date().toISOString(),
    deploymentId: release.deploymentId,
    releaseNumber: release.number,
    successful: end.kind === 'successful',
    ...(end.kind === 'failed' && { reason: end.reason }),
    projectName: release.projectName,
    versionName: release.versionName,
    nodeId: release.nodeId,
    nodeName: nodeName ?? '',
    prefix: release.prefix,
    by: release.startedByName,
  })
}

/** Why a release ends without its agent: the reason, and the line of its log. */
export type Failure = { reason: string; log: NewEvent; expired?: boolean }

export const cancelledBy = (name: string): Failure => ({
  reason: `cancelled by ${name}`,
  log: logEvent(`Cancelled by ${name}`, 'warn'),
})

/** Ends a release without its agent, with its events. @returns the changes, none when it had ended already */
export async function failRelease(
  app: Pick<App, 'jobs'>,
  queries: Queries,
  release: ReleaseRow,
  { reason, log, expired = false }: Failure,
): Promise<DeploymentUpdate[]> {
  const ended = await endRelease(app, queries, release, { kind: 'failed', reason, expired })
  if (!ended) return []
  const position = await appendEvents(queries, release.deploymentId, release.number, [
    log,
    statusEvent('failed', reason),
  ])
  return [{ ...ended, try: release.number, position }]
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
  const rows = await sql`with recursive me as (
      select d.id, d.version_id, v.type from crux.deployment d join crux.version v on v.id = d.version_id
    where d.id = ${release.deploymentId}),
    lineage as (
      select me.version_id as id, me.type from me
      union all
      select v.parent_id, l.type from lineage l join crux.version v on v.id = l.id
      where l.type = 'incremental' and v.parent_id is not null)
    update crux.deployment d set status = 'obsolete', outcome = ${`replaced by ${release.versionName}`},
    updated_at = now()
    where d.node_id = ${release.nodeId} and d.prefix = ${release.prefix} and d.id <> ${release.deploymentId}
    and d.status in ('successful', 'failed')
      and (d.version_id in (select id from lineage)
        or (${!release.partial}::boolean and d.status = 'successful' and d.project_id = ${release.projectId}))
    returning d.id, d.attempts`.rows<{ id: string; attempts: number }>(queries, 'make obsolete')
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
  await sql`select from crux.deployment where id in (select deployment_id from crux.release
    where node_id = ${release.nodeId} and prefix = ${release.prefix} and project_id = ${release.projectId}
    and current) order by id for update`.execute(queries, 'deployments that stand')
  const rows = await sql`update crux.release set current = false
    where node_id = ${release.nodeId} and prefix = ${release.prefix} and project_id = ${release.projectId}
    and current and id <> ${release.id}
    returning container_names as names`.rows<{ names: string[] }>(queries)
  const inherited = release.partial ? rows.flatMap((row) => row.names) : []
  await sql`update crux.release set current = true,
    container_names = ${JSON.stringify([...new Set([...containerNames, ...inherited])])}
    where id = ${release.id}`.execute(queries)
}

/** "4 images, 6.1 s". Uses the same times as the list of releases, so that a release has one duration everywhere. */
async function successText(queries: Queries, release: ReleaseRow): Promise<string> {
  const { images, finishedAt } = await sql`select (
      select count(*)::int from crux.release_instance where release_id = r.id) as images, r.finished_at
    from crux.release r where r.id = ${release.id}`.one<{ images: number; finishedAt: Date }>(queries)
  const took = releaseDurationMs({ startedAt: release.startedAt, dispatchedAt: release.dispatchedAt, finishedAt })
  return `${images} ${images === 1 ? 'image' : 'images'}, ${formatDuration(took ?? 0)}`
}
