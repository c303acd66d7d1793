import { hostname } from 'node:os'
import { CloseReason } from '@crux/agent-protocol'
import { createRounds } from '@crux/service-kit'
import type { App } from '../context.ts'
import { nodeChanged } from '../nodes/index.ts'
import type { Link } from './link.ts'
import type { LinkTable } from './node-links.ts'
import {
  clearLink,
  clearOrphanedLinks,
  deleteDeadProcesses,
  deleteProcess,
  findLink,
  insertProcess,
  type LinkRow,
  recordLink,
  registerProcess,
  sendHeartbeat,
} from './presence-store.ts'

export const heartbeatMs = 5_000

/**
 * Tracks which server processes are alive, and keeps node.link_server correct: a restarted process clears its own old
 * links, and the others clear those of a dead process after 15 s. Events that were missed while the database or the bus
 * was unavailable are processed later.
 */
export function createPresence(app: Pick<App, 'config' | 'database' | 'bus' | 'log'>, links: LinkTable) {
  const { pool } = app.database
  const { serverId } = links
  // A process on a fixed port is the only one with this name; a process whose port is still open (0) cannot know that.
  const name = app.config.port ? `${hostname()}:${app.config.dataDir}:${app.config.port}` : serverId
  const rounds = createRounds({
    intervalMs: heartbeatMs,
    round: beat,
    failed: (err) => app.log.warn({ err }, 'the heartbeat of this process failed'),
  })

  async function beat() {
    let held = listHeld(links.all())
    let seen = await sendHeartbeat(pool, serverId, listNodeIds(held))
    if (!seen.isKnown || seen.hasDead || seen.hasOrphans) {
      // The other processes considered this one dead, e.g. while it could not reach the database.
      if (!seen.isKnown) await insertProcess(pool, serverId, name)
      await deleteDeadProcesses(pool, serverId)
      await clearOrphans(app)
      held = listHeld(links.all())
      seen = await sendHeartbeat(pool, serverId, listNodeIds(held))
    }
    await reconcile(held, seen.nodes)
    for (const { id, teamId, linkServer, linkSession } of seen.nodes)
      if (linkServer === serverId && !links.get(id)) await release(id, teamId, linkSession)
  }

  /** Compares links of this process with those in the database. */
  async function reconcile(held: readonly Link[], rows: readonly LinkRow[]) {
    const known = new Map(rows.map((row) => [row.id, row]))
    for (const link of held) {
      const row = known.get(link.agent.nodeId)
      if (!row?.hasToken) link.close(CloseReason.TOKEN_REVOKED)
      else if (row.linkSession === link.id) continue
      // The next heartbeat clears links of dead processes, and then records that this link is current.
      else if (row.isOrphan) continue
      else if (row.linkServer && row.linkServer !== serverId) link.close(CloseReason.REPLACED)
      else await assert(link, row)
    }
  }

  /** Records again that a link is current. If the link ends at the same time, its end takes precedence. */
  async function assert(link: Link, row: LinkRow) {
    const isOver = () => link.ended || links.get(row.id) !== link
    if (isOver()) return
    await recordLink(pool, { nodeId: row.id, serverId, session: link.id })
    if (isOver()) await release(row.id, row.teamId, link.id)
    else nodeChanged(app, { teamId: row.teamId, nodeId: row.id })
  }

  async function release(nodeId: string, teamId: string, session: string | null) {
    if (await clearLink(pool, { nodeId, serverId, session })) nodeChanged(app, { teamId, nodeId }, 'unreachable')
  }

  return {
    async start() {
      await registerProcess(pool, serverId, name)
      await clearOrphans(app)
      rounds.start()
    },
    beat: rounds.run,
    /** Called when a node has changed: its current link may belong to another process now. */
    async check(nodeId: string) {
      const held = listHeld([links.get(nodeId)].filter((link) => link !== undefined))
      if (held.length === 0) return
      try {
        const row = await findLink(pool, nodeId)
        await reconcile(held, row ? [row] : [])
      } catch (err) {
        app.log.warn({ err, nodeId }, 'a link was not checked')
      }
    },
    async stop() {
      await rounds.stop()
      await deleteProcess(pool, serverId)
      await clearOrphans(app)
    },
  }
}

const listHeld = (candidates: readonly Link[]) => candidates.filter((link) => link.welcomed && !link.ended)
const listNodeIds = (held: readonly Link[]) => held.map((link) => link.agent.nodeId)

async function clearOrphans(app: Pick<App, 'database' | 'bus'>) {
  for (const { id, teamId } of await clearOrphanedLinks(app.database.pool))
    nodeChanged(app, { teamId, nodeId: id }, 'unreachable')
}
