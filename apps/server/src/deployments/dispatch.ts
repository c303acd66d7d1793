import { CruxError } from '@crux/contract'
import type { App } from '../context.ts'
import { inTransaction, type Queries } from '../db/transaction.ts'
import { buildRelease } from './build-release.ts'
import { appendEvents, logEvent, statusEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { endRelease } from './outcome.ts'
import { openReleases, type ReleaseRow } from './release-store.ts'
import { restartRelease } from './restart-release.ts'

/** The longest silence of an agent that a release survives (decision 22). */
export const leaseUntilFrom = (now: Date) => new Date(now.getTime() + 60_000)

/**
 * Hands over what waits for a node: per prefix the oldest release that has not ended, one at a time (decision 28). Harmless when
 * repeated, at any time and at any server process: without the link here, nothing happens.
 *
 * @param options.known releases that the agent has in its journal: it goes on with them by itself
 * @param options.again also those that were handed over before, which an agent that lost them needs
 */
export async function dispatch(
  app: App,
  nodeId: string,
  options: { known?: ReadonlySet<string>; again?: boolean } = {},
): Promise<void> {
  if (app.links.status(nodeId) !== 'connected') return
  const open = await openReleases(app.database.pool, nodeId)
  for (const release of firstPerPrefix(open)) {
    const key = releaseKey(release)
    if (release.cancelRequestedBy) {
      // An agent that has begun undoes it; one that never heard of it has nothing to undo.
      if (options.known && !options.known.has(key)) await endCancelled(app, release)
      else app.links.cancel(nodeId, { deploymentId: release.deploymentId, number: release.number })
      continue
    }
    if (options.known?.has(key) || (release.handedAt && !options.again)) continue
    await restartRelease(app, release)
    await sendRelease(app, release)
  }
}

export const releaseKey = (key: { deploymentId: string; number: number }) => `${key.deploymentId}/${key.number}`

/** In the background: whoever started this has been answered by then. */
export function scheduleDispatch(app: App, nodeId: string): void {
  dispatch(app, nodeId).catch((err: unknown) => app.log.error({ err, nodeId }, 'a release was not handed over'))
}

/** What a failure kept from being handed over, e.g. a database that went away right after the start. */
export async function dispatchOrphaned(app: App): Promise<void> {
  const { rows } = await app.database.pool.query<{ nodeId: string }>(
    `select distinct node_id as "nodeId" from crux.release where status = 'in-progress' and handed_at is null`,
  )
  for (const { nodeId } of rows) await dispatch(app, nodeId)
}

/** Wherever the link is: here at once, at another server process by its word. */
export function notifyDispatcher(app: App, nodeId: string): void {
  if (app.links.status(nodeId) === 'connected') scheduleDispatch(app, nodeId)
  else app.bus.publish({ type: 'node.work', nodeId })
}

function firstPerPrefix(open: readonly ReleaseRow[]): ReleaseRow[] {
  const seen = new Set<string>()
  return open.filter((release) => !seen.has(release.prefix) && seen.add(release.prefix))
}

async function sendRelease(app: App, release: ReleaseRow): Promise<void> {
  const message = await buildRelease(app, release).catch((error: unknown) => {
    if (error instanceof CruxError) return error
    throw error
  })
  if (message instanceof CruxError) return failUndeliverable(app, release, message)
  if (!(await markDispatched(app, release))) return
  if (app.links.deploy(release.nodeId, message)) {
    app.log.info(
      { deploymentId: release.deploymentId, number: release.number, nodeId: release.nodeId },
      'release handed over',
    )
    return
  }
  // The link went away between two lines: the next link takes it, for as long as the lease lasts.
  await app.database.pool.query('update crux.release set handed_at = $2, lease_until = $3 where id = $1', [
    release.id,
    release.handedAt,
    release.leaseUntil,
  ])
}

/**
 * Only one hands over, never what was cancelled or has expired in the meantime, and one release per place: two that were started in
 * the same moment may both have seen nothing before them.
 */
async function markDispatched(app: App, release: ReleaseRow): Promise<boolean> {
  try {
    const { rowCount } = await app.database.pool.query({
      name: 'mark handed over',
      // An agent that loses its releases again and again gets no longer by it.
      text: `update crux.release set handed_at = now(), lease_until = case when handed_at is null then $2::timestamptz else lease_until end
        where id = $1 and status = 'in-progress' and cancel_requested_by is null and handed_at is not distinct from $3`,
      values: [release.id, leaseUntilFrom(new Date()), release.handedAt],
    })
    return rowCount === 1
  } catch (error) {
    if ((error as { constraint?: string }).constraint === 'release_one_handed') return false
    throw error
  }
}

/** What no agent can ever take ends with its reason, instead of waiting for ever. */
async function failUndeliverable(app: App, release: ReleaseRow, { message }: CruxError): Promise<void> {
  const updates = await inTransaction(app.database, async (queries): Promise<DeploymentUpdate[]> => {
    const ended = await endRelease(queries, release, { kind: 'failed', reason: message })
    if (!ended) return []
    const position = await appendEvents(queries, release.deploymentId, release.number, [
      logEvent(message, 'error'),
      statusEvent('failed', message),
    ])
    return [{ ...ended, try: release.number, position }]
  })
  deploymentsChanged(app, updates)
  if (updates.length > 0) scheduleDispatch(app, release.nodeId)
}

async function endCancelled(app: App, release: ReleaseRow): Promise<void> {
  const updates = await inTransaction(app.database, (queries) =>
    cancelNow(queries, release, release.cancelRequestedBy ?? ''),
  )
  deploymentsChanged(app, updates)
  if (updates.length > 0) scheduleDispatch(app, release.nodeId)
}

/** Ends a release that no agent has begun. The caller's transaction holds nothing of it yet. */
export async function cancelNow(queries: Queries, release: ReleaseRow, by: string): Promise<DeploymentUpdate[]> {
  const reason = `cancelled by ${by}`
  const updates = await endRelease(queries, release, { kind: 'failed', reason })
  if (!updates) return []
  const position = await appendEvents(queries, release.deploymentId, release.number, [
    logEvent(`Cancelled by ${by}`, 'warn'),
    statusEvent('failed', reason),
  ])
  return [{ ...updates, try: release.number, position }]
}
