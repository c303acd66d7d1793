import { hostname } from 'node:os'
import { CloseReason } from '@crux/agent-protocol'
import type { App } from '../context.ts'
import { nodeChanged } from '../nodes/index.ts'
import type { Link } from './link.ts'
import type { LinkTable } from './node-links.ts'

export const heartbeatMs = 5_000
/** A process without a heartbeat for this long holds no links. */
const deadAfterSeconds = 15

type NodeRow = { id: string; team_id: string }
type LinkRow = NodeRow & {
  link_server: string | null
  link_session: string | null
  has_token: boolean
  is_orphan: boolean
}
type Heartbeat = { isKnown: boolean; hasDead: boolean; hasOrphans: boolean; nodes: LinkRow[] }

const isDead = `heartbeat_at < now() - interval '${deadAfterSeconds} seconds'`
const isOrphan = '(link_server is not null and link_server not in (select id from crux.server_process))'
const linkColumns = `id, team_id, link_server, link_session,
  exists (select from crux.node_token t where t.node_id = n.id) as has_token, ${isOrphan} as is_orphan`

/**
 * Tracks which server processes are alive, and keeps node.link_server correct: a restarted process clears its own old
 * links, and the others clear those of a dead process after 15 s. Events that were missed while the database or the bus
 * was unavailable are processed later.
 */
export function createPresence(app: Pick<App, 'config' | 'database' | 'bus' | 'log'>, links: LinkTable) {
  const { pool } = app.database
  // A process on a fixed port is the only one with this name; a process whose port is still open (0) cannot know that.
  const name = app.config.port ? `${hostname()}:${app.config.dataDir}:${app.config.port}` : links.serverId
  let timer: NodeJS.Timeout | undefined
  let beating: Promise<void> | undefined

  async function register() {
    await pool.query('delete from crux.server_process where name = $1', [name])
    await pool.query('insert into crux.server_process (id, name) values ($1, $2)', [links.serverId, name])
    await clearOrphans()
  }

  async function clearOrphans() {
    const { rows } = await pool.query<NodeRow>(
      `update crux.node set link_server = null, link_session = null, disconnected_at = now()
       where ${isOrphan} returning id, team_id`,
    )
    for (const row of rows) nodeChanged(app, { teamId: row.team_id, nodeId: row.id }, 'unreachable')
  }

  /** Writes the heartbeat and reads all that a round compares, in one statement: an idle server runs no other one. */
  async function sendHeartbeat(held: readonly Link[]): Promise<Heartbeat> {
    const { rows } = await pool.query<Heartbeat>({
      name: 'heartbeat',
      text: `with own as (update crux.server_process set heartbeat_at = now() where id = $1 returning id)
        select exists (select from own) as "isKnown",
          exists (select from crux.server_process where id <> $1 and ${isDead}) as "hasDead",
          exists (select from crux.node where ${isOrphan}) as "hasOrphans",
          (select coalesce(json_agg(found), '[]') from (
             select ${linkColumns} from crux.node n where n.link_server = $1 or n.id = any($2::uuid[])) found) as nodes`,
      values: [links.serverId, nodeIdsOf(held)],
    })
    return rows[0] as Heartbeat
  }

  async function beat() {
    let held = heldOf(links.all())
    let seen = await sendHeartbeat(held)
    if (!seen.isKnown || seen.hasDead || seen.hasOrphans) {
      // The other processes considered this one dead, e.g. while it could not reach the database.
      if (!seen.isKnown)
        await pool.query('insert into crux.server_process (id, name) values ($1, $2)', [links.serverId, name])
      await pool.query(`delete from crux.server_process where id <> $1 and ${isDead}`, [links.serverId])
      await clearOrphans()
      held = heldOf(links.all())
      seen = await sendHeartbeat(held)
    }
    await reconcile(held, seen.nodes)
    for (const { id, team_id, link_server, link_session } of seen.nodes)
      if (link_server === links.serverId && !links.get(id)) await release(id, team_id, link_session)
  }

  const heldOf = (candidates: readonly Link[]) => candidates.filter((link) => link.welcomed && !link.ended)
  const nodeIdsOf = (held: readonly Link[]) => held.map((link) => link.agent.nodeId)

  /** Compares links of this process with those in the database. */
  async function reconcile(held: readonly Link[], rows: readonly LinkRow[]) {
    const known = new Map(rows.map((row) => [row.id, row]))
    for (const link of held) {
      const row = known.get(link.agent.nodeId)
      if (!row?.has_token) link.close(CloseReason.TOKEN_REVOKED)
      else if (row.link_session === link.id) continue
      // The next heartbeat clears links of dead processes, and then records that this link is current.
      else if (row.is_orphan) continue
      else if (row.link_server && row.link_server !== links.serverId) link.close(CloseReason.REPLACED)
      else await assert(link, row)
    }
  }

  /** Records again that a link is current. If the link ends at the same time, its end takes precedence. */
  async function assert(link: Link, row: NodeRow) {
    const isOver = () => link.ended || links.get(row.id) !== link
    if (isOver()) return
    await pool.query(
      'update crux.node set link_server = $1, link_session = $2 where id = $3 and link_session is null',
      [links.serverId, link.id, row.id],
    )
    if (isOver()) await release(row.id, row.team_id, link.id)
    else nodeChanged(app, { teamId: row.team_id, nodeId: row.id })
  }

  async function release(nodeId: string, teamId: string, session: string | null) {
    const { rowCount } = await pool.query(
      `update crux.node set link_server = null, link_session = null, disconnected_at = now()
       where id = $1 and link_server = $2 and link_session is not distinct from $3`,
      [nodeId, links.serverId, session],
    )
    if (rowCount) nodeChanged(app, { teamId, nodeId }, 'unreachable')
  }

  /** Rounds run one at a time; an unavailable database is tried again in the next round. */
  function beatOnce(): Promise<void> {
    beating ??= beat()
      .catch((err: unknown) => app.log.warn({ err }, 'the heartbeat of this process failed'))
      .finally(() => {
        beating = undefined
      })
    return beating
  }

  return {
    async start() {
      await register()
      timer = setInterval(() => void beatOnce(), heartbeatMs)
    },
    beat: beatOnce,
    /** Called when a node has changed: its current link may belong to another process now. */
    async check(nodeId: string) {
      const held = heldOf([links.get(nodeId)].filter((link) => link !== undefined))
      if (held.length === 0) return
      try {
        const { rows } = await pool.query<LinkRow>(`select ${linkColumns} from crux.node n where id = $1`, [nodeId])
        await reconcile(held, rows)
      } catch (err) {
        app.log.warn({ err, nodeId }, 'a link was not checked')
      }
    },
    async stop() {
      clearInterval(timer)
      await beating
      await pool.query('delete from crux.server_process where id = $1', [links.serverId])
      await clearOrphans()
    },
  }
}
