import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { statusOf } from '../nodes/store.ts'
import { dispatchForgotten, leaseUntilFrom } from './dispatch.ts'
import { appendEvents, becomes, says } from './event-store.ts'
import { deploymentsChanged } from './events.ts'
import { endRelease } from './outcome.ts'
import { lockRelease, type ReleaseRow, releaseColumns } from './release-store.ts'

export type Clock = () => Date
const checkMs = 5_000
/** A pause of this process longer than this (sleep, a database that was away) is not the agents' fault. */
const pausedMs = 3 * checkMs

/**
 * Fails releases whose agent has been away for 60 s, counted only while this server was up and listening (decision 22). A linked
 * agent's leases move on by themselves. Several processes may check: each end happens once, in its transaction.
 */
export function createLeases(app: App, now: Clock = () => new Date()) {
  const { pool } = app.database
  let timer: NodeJS.Timeout | undefined
  let checking: Promise<void> | undefined
  let lastCheck: Date | undefined

  /** All of a node, or all: their 60 s begin anew. Row by row, since who holds one of them may want another. */
  async function beginAnew(nodeId: string | null) {
    const { rows } = await pool.query<{ id: string }>(
      `select id from crux.release where status = 'in-progress' and ($1::uuid is null or node_id = $1)`,
      [nodeId],
    )
    for (const { id } of rows)
      await pool.query({
        name: 'begin a lease anew',
        text: `update crux.release set lease_until = greatest(lease_until, $2) where id = $1 and status = 'in-progress'`,
        values: [id, leaseUntilFrom(now())],
      })
  }

  /** Only an agent that takes commands can bring a release to its end; an outdated one is as good as away. */
  async function extendLinked() {
    const { rows } = await pool.query<{ id: string; linkServer: string | null; agentVersion: string | null }>(
      `select n.id, n.link_server as "linkServer", n.agent_version as "agentVersion" from crux.node n
       where exists (select from crux.release r where r.node_id = n.id and r.status = 'in-progress')`,
    )
    const linked = rows.filter((node) => statusOf(node) === 'connected').map((node) => node.id)
    // What is held just now is heard just now, or comes with the next round.
    await pool.query(
      `update crux.release set lease_until = $1 where id in (
         select id from crux.release where status = 'in-progress' and node_id = any($2::uuid[]) for update skip locked)`,
      [leaseUntilFrom(now()), linked],
    )
  }

  async function check(): Promise<void> {
    const at = now()
    const paused = !lastCheck || at.getTime() - lastCheck.getTime() > pausedMs
    // Nobody listened.
    if (paused) await beginAnew(null)
    else await extendLinked()
    const { rows } = await pool.query<ReleaseRow & { nodeName: string }>(
      `select ${releaseColumns}, n.name as "nodeName" from crux.release r join crux.node n on n.id = r.node_id
       where r.status = 'in-progress' and r.lease_until <= $1 order by r.started_at, r.id`,
      [at],
    )
    for (const row of rows) await expire(row, row.nodeName, at)
    lastCheck = at
    await dispatchForgotten(app)
  }

  async function expire(row: ReleaseRow, nodeName: string, at: Date): Promise<void> {
    const told = await inTransaction(app.database, async (queries) => {
      const release = await lockRelease(queries, row)
      // It was heard meanwhile.
      if (!release?.leaseUntil || release.status !== 'in-progress' || release.leaseUntil > at) return undefined
      const away = `the agent of ${nodeName} has been away for 60 s`
      const reason = release.cancelRequestedBy ? `cancelled by ${release.cancelRequestedBy}; ${away}` : away
      const ended = await endRelease(queries, release, { kind: 'failed', reason, expired: true })
      if (!ended) return undefined
      const position = await appendEvents(queries, row.deploymentId, row.number, [
        says(
          `The agent of ${nodeName} has been away for 60 s. What it did meanwhile is told when it is back.`,
          'error',
        ),
        becomes('failed', reason),
      ])
      return { ...ended, try: row.number, position }
    })
    if (told) deploymentsChanged(app, [told])
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
    /** One round; the interval does the same. */
    check: checkOnce,
    /** The 60 s of a node begin when its link is lost. */
    restart: (nodeId: string) => beginAnew(nodeId),
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
