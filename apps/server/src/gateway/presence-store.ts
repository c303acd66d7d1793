import { type Queries, raw, sql } from '../db/queries.ts'
import type { node } from '../db/schema/index.ts'
import type { Link } from './link.ts'

/** A process without a heartbeat for this long holds no links. */
const deadAfterSeconds = 15

export type LinkRow = Pick<typeof node.$inferSelect, 'id' | 'teamId' | 'linkServer' | 'linkSession'> & {
  hasToken: boolean
  isOrphan: boolean
}
export type Heartbeat = { isKnown: boolean; hasDead: boolean; hasOrphans: boolean; nodes: LinkRow[] }

const isDead = sql`heartbeat_at < now() - interval '${raw(deadAfterSeconds)} seconds'`
const isOrphan = '(link_server is not null and link_server not in (select id from crux.server_process))'
const hasToken = 'exists (select from crux.node_token t where t.node_id = n.id)'

/** Deletes what a previous process of this name left: it has ended, because this one has its port. */
export async function registerProcess(queries: Queries, id: string, name: string): Promise<void> {
  await sql`delete from crux.server_process where name = ${name}`.execute(queries)
  await insertProcess(queries, id, name)
}

export const insertProcess = (queries: Queries, id: string, name: string) =>
  sql`insert into crux.server_process (id, name) values (${id}, ${name})`.execute(queries)

export const deleteProcess = (queries: Queries, id: string) =>
  sql`delete from crux.server_process where id = ${id}`.execute(queries)

export const deleteDeadProcesses = (queries: Queries, ownId: string) =>
  sql`delete from crux.server_process where id <> ${ownId} and ${isDead}`.execute(queries)

/** Ends the links of processes that no longer exist. @returns their nodes */
export const clearOrphanedLinks = (queries: Queries) =>
  sql`update crux.node set link_server = null, link_session = null, disconnected_at = now()
    where ${raw(isOrphan)} returning id, team_id`.rows<Pick<LinkRow, 'id' | 'teamId'>>(queries)

/** Writes the heartbeat and reads all that a round compares, in one statement: an idle server runs no other one. */
export const sendHeartbeat = (queries: Queries, serverId: string, nodeIds: string[]) =>
  sql`with own as (update crux.server_process set heartbeat_at = now() where id = ${serverId} returning id)
      select exists (select from own) as is_known,
        exists (select from crux.server_process where id <> ${serverId} and ${isDead}) as has_dead,
        exists (select from crux.node where ${raw(isOrphan)}) as has_orphans,
        (select coalesce(json_agg(json_build_object('id', id, 'teamId', team_id, 'linkServer', link_server,
           'linkSession', link_session, 'hasToken', ${raw(hasToken)}, 'isOrphan', ${raw(isOrphan)})), '[]')
         from crux.node n where n.link_server = ${serverId} or n.id = any(${nodeIds}::uuid[])) as nodes`.one<Heartbeat>(
    queries,
    'heartbeat',
  )

export const findLink = (queries: Queries, nodeId: string) =>
  sql`select id, team_id, link_server, link_session, ${raw(hasToken)} as has_token, ${raw(isOrphan)} as is_orphan
    from crux.node n where id = ${nodeId}`.first<LinkRow>(queries)

/**
 * Makes a link the current one, whichever process held the previous one.
 *
 * @returns whether the node had another key for secrets before; undefined when it has no token any more: it was
 *   revoked, or the node deleted
 */
export async function recordLinked(
  queries: Queries,
  { id, agent: { nodeId, info } }: Pick<Link, 'id' | 'agent'>,
  serverId: string,
  address: string | undefined,
): Promise<{ keyChanged: boolean } | undefined> {
  const linked = await sql`update crux.node n set link_server = ${serverId}, link_session = ${id},
      connected_at = ${new Date()}, address = ${address ?? null}, agent_version = ${info.version},
      engine_version = ${info.engineVersion}, operating_system = ${info.operatingSystem},
      architecture = ${info.architecture}, agent_updatable = ${info.updatable}, public_key = ${info.publicKey}
    where id = ${nodeId} and exists (select from crux.node_token t where t.node_id = n.id for share)
    returning old.public_key as previous_key`.first<{ previousKey: string | null }>(queries)
  return linked && { keyChanged: linked.previousKey !== null && linked.previousKey !== info.publicKey }
}

/** Records a link that is current, unless another one is recorded. */
export const recordLink = (queries: Queries, link: { nodeId: string; serverId: string; session: string }) =>
  sql`update crux.node set link_server = ${link.serverId}, link_session = ${link.session}
    where id = ${link.nodeId} and link_session is null`.execute(queries)

/** @returns false when another link is recorded */
export const clearLink = async (
  queries: Queries,
  link: { nodeId: string; serverId: string; session: string | null },
): Promise<boolean> =>
  (await sql`update crux.node set link_server = null, link_session = null, disconnected_at = now()
    where id = ${link.nodeId} and link_server = ${link.serverId}
      and link_session is not distinct from ${link.session}`.execute(queries)) === 1
