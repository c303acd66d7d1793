import type { Queries } from '../db/transaction.ts'

/** A process without a heartbeat for this long holds no links. */
const deadAfterSeconds = 15

export type LinkRow = {
  id: string
  teamId: string
  linkServer: string | null
  linkSession: string | null
  hasToken: boolean
  isOrphan: boolean
}
export type Heartbeat = { isKnown: boolean; hasDead: boolean; hasOrphans: boolean; nodes: LinkRow[] }

const isDead = `heartbeat_at < now() - interval '${deadAfterSeconds} seconds'`
const isOrphan = '(link_server is not null and link_server not in (select id from crux.server_process))'
const hasToken = 'exists (select from crux.node_token t where t.node_id = n.id)'

/** Deletes what a previous process of this name left: it has ended, because this one has its port. */
export async function registerProcess(queries: Queries, id: string, name: string): Promise<void> {
  await queries.query('delete from crux.server_process where name = $1', [name])
  await insertProcess(queries, id, name)
}

export const insertProcess = (queries: Queries, id: string, name: string) =>
  queries.query('insert into crux.server_process (id, name) values ($1, $2)', [id, name])

export const deleteProcess = (queries: Queries, id: string) =>
  queries.query('delete from crux.server_process where id = $1', [id])

export const deleteDeadProcesses = (queries: Queries, ownId: string) =>
  queries.query(`delete from crux.server_process where id <> $1 and ${isDead}`, [ownId])

/** Ends the links of processes that no longer exist. @returns their nodes */
export async function clearOrphanedLinks(queries: Queries): Promise<Pick<LinkRow, 'id' | 'teamId'>[]> {
  const { rows } = await queries.query<Pick<LinkRow, 'id' | 'teamId'>>(
    `update crux.node set link_server = null, link_session = null, disconnected_at = now()
     where ${isOrphan} returning id, team_id`,
  )
  return rows
}

/** Writes the heartbeat and reads all that a round compares, in one statement: an idle server runs no other one. */
export async function sendHeartbeat(queries: Queries, serverId: string, nodeIds: string[]): Promise<Heartbeat> {
  const { rows } = await queries.query<Heartbeat>({
    name: 'heartbeat',
    text: `with own as (update crux.server_process set heartbeat_at = now() where id = $1 returning id)
      select exists (select from own) as is_known,
        exists (select from crux.server_process where id <> $1 and ${isDead}) as has_dead,
        exists (select from crux.node where ${isOrphan}) as has_orphans,
        (select coalesce(json_agg(json_build_object('id', id, 'teamId', team_id, 'linkServer', link_server,
           'linkSession', link_session, 'hasToken', ${hasToken}, 'isOrphan', ${isOrphan})), '[]')
         from crux.node n where n.link_server = $1 or n.id = any($2::uuid[])) as nodes`,
    values: [serverId, nodeIds],
  })
  const [heartbeat] = rows
  if (!heartbeat) throw new Error('the heartbeat returned no row')
  return heartbeat
}

export async function findLink(queries: Queries, nodeId: string): Promise<LinkRow | undefined> {
  const { rows } = await queries.query<LinkRow>(
    `select id, team_id, link_server, link_session, ${hasToken} as has_token, ${isOrphan} as is_orphan
     from crux.node n where id = $1`,
    [nodeId],
  )
  return rows[0]
}

/** Records a link that is current, unless another one is recorded. */
export const recordLink = (queries: Queries, link: { nodeId: string; serverId: string; session: string }) =>
  queries.query('update crux.node set link_server = $1, link_session = $2 where id = $3 and link_session is null', [
    link.serverId,
    link.session,
    link.nodeId,
  ])

/** @returns false when another link is recorded */
export async function clearLink(
  queries: Queries,
  link: { nodeId: string; serverId: string; session: string | null },
): Promise<boolean> {
  const { rowCount } = await queries.query(
    `update crux.node set link_server = null, link_session = null, disconnected_at = now()
     where id = $1 and link_server = $2 and link_session is not distinct from $3`,
    [link.nodeId, link.serverId, link.session],
  )
  return Boolean(rowCount)
}
