import { CruxError } from '@crux/contract'
import { leaseMs } from '@crux/rules'
import { getField } from '@crux/service-kit'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { buildRelease, type CompleteRelease } from './build-release.ts'
import { appendEvents, logEvent } from './event-store.ts'
import { type DeploymentUpdate, deploymentsChanged } from './events.ts'
import { resetJournal } from './journal-store.ts'
import { cancelledBy, type Failure, failRelease } from './outcome-store.ts'
import {
  lockRelease,
  markDispatched,
  nodesWithOrphans,
  openReleases,
  type ReleaseRow,
  releaseInstances,
  undoDispatch,
} from './store.ts'

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
      if (options.known && !options.known.has(key)) await endNow(app, release, cancelledBy(release.cancelRequestedBy))
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
  for (const nodeId of await nodesWithOrphans(app.database.pool)) await dispatch(app, nodeId)
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

/**
 * Prepares a release for an agent that has reported events of it and no longer knows it, e.g. after its directory was
 * lost: its new journal counts from 1 again. Events of the previous journal are kept without sequence, so that no event
 * of the new one is taken for a repetition.
 */
async function restartRelease(app: App, release: ReleaseRow): Promise<void> {
  if (release.acknowledgedSequence === 0) return
  const updates = await inTransaction(app.database, async (queries): Promise<DeploymentUpdate[]> => {
    const now = await lockRelease(queries, release)
    if (now?.status !== 'in-progress' || now.acknowledgedSequence !== release.acknowledgedSequence) return []
    const { deploymentId, number, teamId } = release
    const { nodeName } = await resetJournal(queries, release)
    const position = await appendEvents(queries, deploymentId, number, [
      logEvent(
        `The agent of ${nodeName} does not know this release any more: it starts again from the beginning`,
        'warn',
      ),
    ])
    return [{ deploymentId, teamId, try: number, position }]
  })
  deploymentsChanged(app, updates)
}

async function sendRelease(app: App, release: ReleaseRow): Promise<void> {
  const { pool } = app.database
  const build = async () => buildRelease(app, pool, release, await releaseInstances(pool, release.id))
  const [built, marked] = await Promise.allSettled([build(), takeRelease(app, release)])
  if (marked.status === 'rejected') throw marked.reason
  if (marked.value) await deliver(app, release, built)
}

export type BuiltRelease = PromiseSettledResult<CompleteRelease>

/**
 * Sends a release that is stored as dispatched over the link of this process.
 *
 * @param release as it was before it was dispatched
 */
export async function deliver(app: App, release: ReleaseRow, read: BuiltRelease): Promise<void> {
  const [built] = read.status === 'fulfilled' ? await Promise.allSettled([read.value()]) : [read]
  if (built.status === 'fulfilled' && app.links.deploy(release.nodeId, built.value)) {
    app.log.info(
      { deploymentId: release.deploymentId, number: release.number, nodeId: release.nodeId },
      'release dispatched',
    )
    return
  }
  // It could not be built, or the link ended meanwhile. The next link takes the release while the lease lasts.
  await undoDispatch(app.database.pool, release)
  if (built.status === 'fulfilled') return
  if (!(built.reason instanceof CruxError)) throw built.reason
  // No agent can ever accept it, so that it must not wait forever.
  const reason = built.reason.message
  await endNow(app, release, { reason, log: logEvent(reason, 'error') })
}

/**
 * Only one process dispatches, one release per deployment target, and never one that was cancelled or has expired: two
 * releases that were started at the same moment may both have found none before them.
 */
async function takeRelease(app: App, release: ReleaseRow): Promise<boolean> {
  try {
    return await markDispatched(app.database.pool, release, leaseUntilFrom(new Date()))
  } catch (error) {
    if (isSecondDispatched(error)) return false
    throw error
  }
}

/** Whether a statement would have dispatched a second release to a target that has one already. */
export const isSecondDispatched = (error: unknown): boolean =>
  getField(error, 'constraint') === 'release_one_dispatched'

/** Ends a release that no agent has started. */
async function endNow(app: App, release: ReleaseRow, failure: Failure): Promise<void> {
  const updates = await inTransaction(app.database, (queries) => failRelease(app, queries, release, failure))
  deploymentsChanged(app, updates)
  if (updates.length > 0) scheduleDispatch(app, release.nodeId)
}
