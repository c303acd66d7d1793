import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { statusOf } from '../nodes/index.ts'
import { dispatchOrphaned, leaseUntilFrom } from './dispatch.ts'
import { appendEvents, logEvent, statusEvent } from './event-store.ts'
import { deploymentsChanged } from './events.ts'
import { endRelease } from './outcome.ts'
import { lockRelease, type ReleaseRow, releaseColumns } from './store.ts'

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
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> | undefined
  let lastCheck: Date | undefined

  /**
   * Restarts the 60 s of all releases of a node whose last link was steady, or of all nodes. Each row is updated by
   * itself, because a transaction that holds one of them may wait for another.
   */
  async function restartLeases(nodeId: string | null) {
    const { rows } = await pool.query<{ id: string }>(
      `select r.id from crux.release r join crux.node n on n.id = r.node_id
       where r.status = 'in-progress' and ($1::uuid is null or (n.id = $1 and n.connected_at <= $2))`,
      [nodeId, steadySince()],
    )
    for (const { id } of rows)
      await pool.query({
        name: 'restart a lease',
        text: `update crux.release set lease_until = greatest(lease_until, $2) where id = $1 and status = 'in-progress'`,
        values: [id, leaseUntilFrom(now())],
      })
  }

  const steadySince = () => new Date(now().getTime() - steadyLinkMs)

  /** Only an agent that takes commands can complete a release; an outdated one counts as unavailable. */
  async function extendLinked() {
    const { rows } = await pool.query<{ id: string; linkServer: string | null; agentVersion: string | null }>(
      `select n.id, n.link_server, n.agent_version from crux.node n
       where n.connected_at <= $1 and exists (select from crux.release r where r.node_id = n.id and r.status = 'in-progress')`,
      [steadySince()],
    )
    const linked = rows.filter((node) => statusOf(node) === 'connected').map((node) => node.id)
    if (linked.length === 0) return
    // Locked rows are skipped: their transaction renews the lease, or the next round does.
    await pool.query(
      `update crux.release set lease_until = $1 where id in (
         select id from crux.release where status = 'in-progress' and node_id = any($2::uuid[]) for update skip locked)`,
      [leaseUntilFrom(now()), linked],
    )
  }

  /** All other statements concern open releases only; without one, a check is this one statement. */
  async function hasOpenReleases(): Promise<boolean> {
    const { rows } = await pool.query<{ exists: boolean }>({
      name: 'has open releases',
      text: `select exists (select from crux.release where status = 'in-progress')`,
    })
    return rows[0]?.exists ?? false
  }

  async function check(): Promise<void> {
    const at = now()
    const paused = !lastCheck || at.getTime() - lastCheck.getTime() > pausedMs
    if (!(await hasOpenReleases())) {
      lastCheck = at
      return
    }
    // No process was listening.
    if (paused) await restartLeases(null)
    else await extendLinked()
    const { rows } = await pool.query<ReleaseRow & { nodeName: string; wasLinked: boolean }>(
      `select ${releaseColumns}, n.name as node_name,
         coalesce(n.connected_at > r.lease_until - interval '60 seconds', false) as was_linked
       from crux.release r join crux.node n on n.id = r.node_id
       where r.status = 'in-progress' and r.lease_until <= case when n.link_server is null then $1::timestamptz else $2 end
       order by r.started_at, r.id`,
      [at, new Date(at.getTime() - graceMs)],
    )
    for (const row of rows) await expire(row, row.nodeName, at, row.wasLinked)
    lastCheck = at
    await dispatchOrphaned(app)
  }

  async function expire(row: ReleaseRow, nodeName: string, at: Date, wasLinked: boolean): Promise<void> {
    const updates = await inTransaction(app.database, async (queries) => {
      const release = await lockRelease(queries, row)
      // The agent has connected in the meantime.
      if (!release?.leaseUntil || release.status !== 'in-progress' || release.leaseUntil > at) return undefined
      const away = wasLinked
        ? `the agent of ${nodeName} did not stay connected for 10 s within 60 s`
        : `the agent of ${nodeName} has been away for 60 s`
      const reason = release.cancelRequestedBy ? `cancelled by ${release.cancelRequestedBy}; ${away}` : away
      const ended = await endRelease(queries, release, { kind: 'failed', reason, expired: true })
      if (!ended) return undefined
      const position = await appendEvents(queries, row.deploymentId, row.number, [
        logEvent(
          `${away.replace('the', 'The')}. Its report of what it did meanwhile follows when it is back.`,
          'error',
        ),
        statusEvent('failed', reason),
      ])
      return { ...ended, try: row.number, position }
    })
    if (updates) deploymentsChanged(app, [updates])
  }

  function checkOnce(): Promise<void> {
    checking ??= check()
      .catch((err: unknown) => app.log.warn({ err }, 'leases were not checked'))
      .finally(() => {
        checking = undefined
      })
    return checking
  }

  return {
    /** Runs one round; the interval does the same. */
    check: checkOnce,
    /** The 60 s of a node start when its link is lost. */
    restart: (nodeId: string) => restartLeases(nodeId),
    async start() {
      await checkOnce()
      timer = setInterval(() => void checkOnce(), checkMs)
    },
    async stop() {
      clearInterval(timer)
      await checking
    },
  }
}
