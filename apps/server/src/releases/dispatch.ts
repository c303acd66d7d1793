import type { MessageInitShape } from '@bufbuild/protobuf'
import type { ReleaseSchema } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import { leaseMs } from '@crux/rules'
import { getField } from '@crux/service-kit'
import type { App } from '../context.ts'
import { inTransaction, type Queries } from '../db/transaction.ts'
import { buildRelease } from './build-release.ts'
import { appendEvents, logEvent, statusEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { endRelease } from './outcome.ts'
import { restartRelease } from './restart-release.ts'
import { openReleases, type ReleaseRow, releaseInstances } from './store.ts'

/** A release survives an unavailable agent for at most this time. */
export const leaseUntilFrom = (now: Date) => new Date(now.getTime() + leaseMs)

/**
 * Dispatches what waits for a node: per prefix the oldest release that has not ended, one at a time. It may be repeated
 * at any time and by any server process: without a link in this process it does nothing.
 *
 * @param options.known releases that the agent has in its journal and continues by itself
 * @param options.again also releases that were dispatched before, which an agent that lost them needs
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
      // An agent that has started the release undoes it; an agent that never received it has nothing to undo.
      if (options.known && !options.known.has(key)) await endCancelled(app, release)
      else app.links.cancel(nodeId, { deploymentId: release.deploymentId, number: release.number })
      continue
    }
    if (options.known?.has(key) || (release.dispatchedAt && !options.again)) continue
    await restartRelease(app, release)
    await sendRelease(app, release)
  }
}

export const releaseKey = (key: { deploymentId: string; number: number }) => `${key.deploymentId}/${key.number}`

/** Runs in the background, because the caller has been answered by then. */
export function scheduleDispatch(app: App, nodeId: string): void {
  dispatch(app, nodeId).catch((err: unknown) => app.log.error({ err, nodeId }, 'a release was not dispatched'))
}

/**
 * Dispatches releases that a failure kept from being dispatched, e.g. a database that became unavailable right after
 * the start.
 */
export async function dispatchOrphaned(app: App): Promise<void> {
  const { rows } = await app.database.pool.query<{ nodeId: string }>(
    `select distinct node_id from crux.release where status = 'in-progress' and dispatched_at is null`,
  )
  for (const { nodeId } of rows) await dispatch(app, nodeId)
}

/** Dispatches at once if this process has the link; otherwise the bus notifies the server process that has it. */
export function notifyDispatcher(app: App, nodeId: string): void {
  if (app.links.status(nodeId) === 'connected') scheduleDispatch(app, nodeId)
  else app.bus.publish({ type: 'node.work', nodeId })
}

function firstPerPrefix(open: readonly ReleaseRow[]): ReleaseRow[] {
  const seen = new Set<string>()
  return open.filter((release) => !seen.has(release.prefix) && seen.add(release.prefix))
}

async function sendRelease(app: App, release: ReleaseRow): Promise<void> {
  const { pool } = app.database
  const build = async () => buildRelease(app, pool, release, await releaseInstances(pool, release.id))
  const [built, marked] = await Promise.allSettled([build(), markDispatched(app, release)])
  if (marked.status === 'rejected') throw marked.reason
  if (marked.value) await deliver(app, release, built)
}

export type BuiltRelease = PromiseSettledResult<MessageInitShape<typeof ReleaseSchema>>

/**
 * Sends a release that is stored as dispatched over the link of this process.
 *
 * @param release as it was before it was dispatched
 */
export async function deliver(app: App, release: ReleaseRow, built: BuiltRelease): Promise<void> {
  if (built.status === 'fulfilled' && app.links.deploy(release.nodeId, built.value)) {
    app.log.info(
      { deploymentId: release.deploymentId, number: release.number, nodeId: release.nodeId },
      'release dispatched',
    )
    return
  }
  // It could not be built, or the link ended meanwhile. The next link takes the release while the lease lasts.
  await app.database.pool.query('update crux.release set dispatched_at = $2, lease_until = $3 where id = $1', [
    release.id,
    release.dispatchedAt,
    release.leaseUntil,
  ])
  if (built.status === 'fulfilled') return
  if (!(built.reason instanceof CruxError)) throw built.reason
  await failUndeliverable(app, release, built.reason)
}

/**
 * Only one process dispatches, one release per deployment target, and never one that was cancelled or has expired: two
 * releases that were started at the same moment may both have found none before them.
 */
async function markDispatched(app: App, release: ReleaseRow): Promise<boolean> {
  try {
    const { rowCount } = await app.database.pool.query({
      name: 'mark dispatched',
      // An agent that repeatedly loses its releases does not extend the lease this way.
      text: `update crux.release set dispatched_at = now(), lease_until = case when dispatched_at is null then $2::timestamptz else lease_until end
        where id = $1 and status = 'in-progress' and cancel_requested_by is null and dispatched_at is not distinct from $3`,
      values: [release.id, leaseUntilFrom(new Date()), release.dispatchedAt],
    })
    return rowCount === 1
  } catch (error) {
    if (isSecondDispatched(error)) return false
    throw error
  }
}

/** Whether a statement would have dispatched a second release to a target that has one already. */
export const isSecondDispatched = (error: unknown): boolean =>
  getField(error, 'constraint') === 'release_one_dispatched'

/** Ends a release that no agent can ever accept with its reason, so that it does not wait forever. */
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

/** Ends a release that no agent has started. The caller's transaction has no locks on it yet. */
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
