import { createRounds } from '@crux/service-kit'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { getStatus } from '../nodes/index.ts'
import { dispatchOrphaned, leaseUntilFrom } from './dispatch.ts'
import { logEvent } from './event-store.ts'
import { deploymentsChanged } from './events.ts'
import {
  type ExpiredRow,
  expiredReleases,
  extendLeases,
  hasOpenReleases,
  linkedNodes,
  openReleasesOfNodes,
  restartLease,
} from './lease-store.ts'
import { failRelease } from './outcome-store.ts'
import { lockRelease } from './store.ts'

export type Clock = () => Date
const checkMs = 5_000
/** A shorter link renews no lease, because an agent that crashes repeatedly connects between two crashes. */
const steadyLinkMs = 10_000
/** A link that started just before a lease ran out has this long to become a steady one. */
const graceMs = steadyLinkMs + checkMs
/** If this process stops for longer than this (sleep, an unavailable database), the time does not count against the agents. */
const pausedMs = 3 * checkMs

/**
 * Fails releases whose agent has been unavailable for 60 s, counted only while this server was up and listening. Leases
 * of a connected agent are extended once its link has held for 10 s. Several processes may check: each end happens
 * once, in its transaction.
 */
export function createLeases(app: App, now: Clock = () => new Date()) {
  const { pool } = app.database
  const rounds = createRounds({
    intervalMs: checkMs,
    round: check,
    failed: (err) => app.log.warn({ err }, 'leases were not checked'),
  })
  let lastCheck: Date | undefined

  const steadySince = () => new Date(now().getTime() - steadyLinkMs)

  /**
   * Restarts the 60 s of all releases of a node whose last link was steady, or of all nodes. Each row is updated by
   * itself, because a transaction that holds one of them may wait for another.
   */
  async function restartLeases(nodeId: string | null) {
    for (const id of await openReleasesOfNodes(pool, { nodeId, linkedSince: steadySince() }))
      await restartLease(pool, id, leaseUntilFrom(now()))
  }

  /**
   * Only an agent that takes commands can complete a release; an outdated one counts as unavailable. What was started
   * during an update of the agent waits for its end, which has a limit of its own.
   */
  async function extendLinked() {
    const nodes = await linkedNodes(pool, steadySince())
    const linked = nodes.filter((node) => ['connected', 'updating'].includes(getStatus(node))).map((node) => node.id)
    if (linked.length > 0) await extendLeases(pool, linked, leaseUntilFrom(now()))
  }

  async function check(): Promise<void> {
    const at = now()
    const paused = !lastCheck || at.getTime() - lastCheck.getTime() > pausedMs
    if (!(await hasOpenReleases(pool))) {
      lastCheck = at
      return
    }
    // No process was listening.
    if (paused) await restartLeases(null)
    else await extendLinked()
    for (const row of await expiredReleases(pool, at, new Date(at.getTime() - graceMs))) await expire(app, row, at)
    lastCheck = at
    await dispatchOrphaned(app)
  }

  return {
    /** Runs one round; the interval does the same. */
    check: rounds.run,
    /** The 60 s of a node start when its link is lost. */
    restart: (nodeId: string) => restartLeases(nodeId),
    async start() {
      await rounds.run()
      rounds.start()
    },
    stop: rounds.stop,
  }
}

async function expire(app: App, row: ExpiredRow, at: Date): Promise<void> {
  const { nodeName, wasLinked } = row
  const updates = await inTransaction(app.database, async (queries) => {
    const release = await lockRelease(queries, row)
    // The agent has connected in the meantime.
    if (!release?.leaseUntil || release.status !== 'in-progress' || release.leaseUntil > at) return []
    const away = wasLinked
      ? `the agent of ${nodeName} did not stay connected for 10 s within 60 s`
      : `the agent of ${nodeName} has been away for 60 s`
    const reason = release.cancelRequestedBy ? `cancelled by ${release.cancelRequestedBy}; ${away}` : away
    const said = `${away.replace('the', 'The')}. Its report of what it did meanwhile follows when it is back.`
    return failRelease(app, queries, release, { reason, log: logEvent(said, 'error'), expired: true })
  })
  deploymentsChanged(app, updates)
}
