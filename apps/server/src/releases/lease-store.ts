import { type Queries, sql } from '../db/queries.ts'
import { isUpdatingSql } from '../nodes/index.ts'
import { type ReleaseRow, releaseColumns } from './store.ts'

/** All other statements concern open releases only; without one, a check of the leases is this one statement. */
export const hasOpenReleases = async (queries: Queries): Promise<boolean> =>
  (await sql`select exists (select
    from crux.release where status = 'in-progress')`.value<boolean>(queries, 'has open releases')) ?? false

/** The open releases of nodes, or of one node, whose last link has held since a time. */
export const openReleasesOfNodes = (
  queries: Queries,
  { nodeId, linkedSince }: { nodeId: string | null; linkedSince: Date },
) =>
  sql`select r.id from crux.release r join crux.node n on n.id = r.node_id
    where r.status = 'in-progress' and (${nodeId}::uuid is null or (n.id = ${nodeId}
    and n.connected_at <= ${linkedSince}))`.column(queries)

export const restartLease = (queries: Queries, id: string, until: Date) =>
  sql`update crux.release set lease_until = greatest(lease_until, ${until})
    where id = ${id} and status = 'in-progress'`.execute(queries, 'restart a lease')

type LinkedNode = { id: string; linkServer: string | null; agentVersion: string | null; updating: boolean }

/** Nodes with open releases that have been connected since a time, or whose agent is being updated. */
export const linkedNodes = (queries: Queries, since: Date) =>
  sql`select n.id, n.link_server, n.agent_version, ${isUpdatingSql} as updating from crux.node n
    where (n.connected_at <= ${since} or ${isUpdatingSql}) and exists (select from crux.release r
    where r.node_id = n.id and r.status = 'in-progress')`.rows<LinkedNode>(queries)

/** Locked rows are skipped: their transaction renews the lease, or the next round does. */
export const extendLeases = (queries: Queries, nodeIds: readonly string[], until: Date) =>
  sql`update crux.release set lease_until = ${until} where id in (
    select id from crux.release where status = 'in-progress' and node_id = any(${nodeIds}::uuid[])
    for update skip locked)`.execute(queries)

export type ExpiredRow = ReleaseRow & { nodeName: string; wasLinked: boolean }

/** Releases whose lease has run out: at `at` while their agent is unavailable, before `linkedAt` while it is connected. */
export const expiredReleases = (queries: Queries, at: Date, linkedAt: Date) =>
  sql`select ${releaseColumns}, n.name as node_name,
      coalesce(n.connected_at > r.lease_until - interval '60 seconds', false) as was_linked
    from crux.release r join crux.node n on n.id = r.node_id
    where r.status = 'in-progress'
      and r.lease_until <= case when n.link_server is null then ${at}::timestamptz else ${linkedAt} end
    order by r.started_at, r.id`.rows<ExpiredRow>(queries)
