import { type Queries, sql } from '../db/queries.ts'
import { isUpdatingSql } from './update-store.ts'

export type ReportedNode = { id: string; teamId: string; name: string; since: Date }

/** A process without a heartbeat for this long does not listen, as for its links. */
const deadAfterSeconds = 15

/** The time since which a server has listened: before it, no agent could have connected. */
const listeningSince = sql`coalesce((select min(started_at) from crux.server_process
  where heartbeat_at > now() - ${deadAfterSeconds} * interval '1 second'), now())`

/**
 * Marks the nodes whose agents have been away for this long while a server listened. The row is the claim: each outage
 * is returned once, to one server. Without a token the agent was disconnected on purpose.
 *
 * @param resumedAt this process did nothing before, such as on a machine that slept
 */
export const claimUnreachable = (queries: Queries, { afterMs, resumedAt }: { afterMs: number; resumedAt: Date }) =>
  sql`update crux.node n set unreachable_since = disconnected_at
    where link_server is null and unreachable_since is null
      and greatest(disconnected_at, ${listeningSince}, ${resumedAt}) <= now() - ${afterMs} * interval '1 millisecond'
      and disconnected_at is not null and not ${isUpdatingSql}
      and exists (select from crux.node_token t where t.node_id = n.id)
    returning id, team_id, name, unreachable_since as since`.rows<ReportedNode>(queries, 'claim unreachable nodes')

/** Clears the mark of nodes that have been connected for this long. */
export const claimBack = (queries: Queries, { afterMs }: { afterMs: number }) =>
  sql`update crux.node n set unreachable_since = null
    where link_server is not null and unreachable_since is not null
      and connected_at <= now() - ${afterMs} * interval '1 millisecond'
    returning id, team_id, name, old.unreachable_since as since`.rows<ReportedNode>(
    queries,
    'claim nodes that are back',
  )
