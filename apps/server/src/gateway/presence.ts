import { hostname } from 'node:os'
import { CloseReason } from '@crux/agent-protocol'
import type { App } from '../context.ts'
import { nodeChanged } from '../nodes/events.ts'
import type { Link } from './link.ts'
import type { LinkTable } from './node-links.ts'

export const heartbeatMs = 5_000
/** A process that has not been heard for so long holds no links. */
const deadAfterSeconds = 15

type NodeRow = { id: string; team_id: string }

/**
 * Which server processes live, and that node.link_server says the truth: links of the dead are cleared, by themselves when they
 * start again and by the others after 15 s; and what was missed while the database or the bus was away is made up for.
 */
export function createPresence(app: Pick<App, 'config' | 'database' | 'bus' | 'log'>, links: LinkTable) {
  const { pool } = app.database
  // A process on a port of its own is alone under this name; one whose port is still open (0) cannot say so.
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
       where link_server is not null and link_server not in (select id from crux.server_process) returning id, team_id`,
    )
    for (const row of rows) nodeChanged(app, { teamId: row.team_id, nodeId: row.id }, 'unreachable')
  }

  async function beat() {
    const { rowCount } = await pool.query('update crux.server_process set heartbeat_at = now() where id = $1', [
      links.serverId,
    ])
    // The others believed this process dead, e.g. while the database was out of its reach.
    if (rowCount === 0) {
      await pool.query('insert into crux.server_process (id, name) values ($1, $2)', [links.serverId, name])
    }
    await pool.query(
      `delete from crux.server_process where id <> $1 and heartbeat_at < now() - interval '${deadAfterSeconds} seconds'`,
      [links.serverId],
    )
    await clearOrphans()
    await reconcile(links.all())
    const { rows } = await pool.query<NodeRow & { link_session: string | null }>(
      'select id, team_id, link_session from crux.node where link_server = $1',
      [links.serverId],
    )
    for (const row of rows) if (!links.get(row.id)) await release(row.id, row.team_id, row.link_session)
  }

  /** Compares links of this process with what the database says of them. */
  async function reconcile(candidates: Link[]) {
    const held = candidates.filter((link) => link.welcomed && !link.ended)
    if (held.length === 0) return
    const { rows } = await pool.query<
      NodeRow & { link_server: string | null; link_session: string | null; has_token: boolean }
    >(
      `select id, team_id, link_server, link_session,
         exists (select from crux.node_token t where t.node_id = n.id) as has_token
       from crux.node n where id = any($1::uuid[])`,
      [held.map((link) => link.agent.nodeId)],
    )
    const known = new Map(rows.map((row) => [row.id, row]))
    for (const link of held) {
      const row = known.get(link.agent.nodeId)
      if (!row?.has_token) link.close(CloseReason.TOKEN_REVOKED)
      else if (row.link_session === link.id) continue
      else if (row.link_server && row.link_server !== links.serverId) link.close(CloseReason.REPLACED)
      else await assert(link, row)
    }
  }

  /** Says again that a link counts. It may end at any moment meanwhile: then its end, not this, has the last word. */
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

  /** One at a time; a database that is away is asked again at the next beat. */
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
    /** After word that a node changed: its link may count at another process now. */
    async check(nodeId: string) {
      const link = links.get(nodeId)
      if (link) await reconcile([link]).catch((err: unknown) => app.log.warn({ err, nodeId }, 'a link was not checked'))
    },
    async stop() {
      clearInterval(timer)
      await beating
      await pool.query('delete from crux.server_process where id = $1', [links.serverId])
      await clearOrphans()
    },
  }
}
