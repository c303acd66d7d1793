import type { Queries } from '../db/transaction.ts'
import { type ReleaseRow, releaseColumns } from './store.ts'

/** All other statements concern open releases only; without one, a check of the leases is this one statement. */
export async function hasOpenReleases(queries: Queries): Promise<boolean> {
  const { rows } = await queries.query<{ exists: boolean }>({
    name: 'has open releases',
    text: `select exists (select from crux.release where status = 'in-progress')`,
  })
  return rows[0]?.exists ?? false
}

/** The open releases of nodes, or of one node, whose last link has held since a time. */
export async function openReleasesOfNodes(
  queries: Queries,
  { nodeId, linkedSince }: { nodeId: string | null; linkedSince: Date },
): Promise<string[]> {
  const { rows } = await queries.query<{ id: string }>(
    `select r.id from crux.release r join crux.node n on n.id = r.node_id
     where r.status = 'in-progress' and ($1::uuid is null or (n.id = $1 and n.connected_at <= $2))`,
    [nodeId, linkedSince],
  )
  return rows.map((row) => row.id)
}

export const restartLease = (queries: Queries, id: string, until: Date) =>
  queries.query({
    name: 'restart a lease',
    text: `update crux.release set lease_until = greatest(lease_until, $2) where id = $1 and status = 'in-progress'`,
    values: [id, until],
  })

type LinkedNode = { id: string; linkServer: string | null; agentVersion: string | null }

/** Nodes with open releases that have been connected since a time. */
export async function linkedNodes(queries: Queries, since: Date): Promise<LinkedNode[]> {
  const { rows } = await queries.query<LinkedNode>(
    `select n.id, n.link_server, n.agent_version from crux.node n
     where n.connected_at <= $1 and exists (select from crux.release r where r.node_id = n.id and r.status = 'in-progress')`,
    [since],
  )
  return rows
}

/** Locked rows are skipped: their transaction renews the lease, or the next round does. */
export const extendLeases = (queries: Queries, nodeIds: readonly string[], until: Date) =>
  queries.query(
    `update crux.release set lease_until = $1 where id in (
       select id from crux.release where status = 'in-progress' and node_id = any($2::uuid[]) for update skip locked)`,
    [until, nodeIds],
  )

export type ExpiredRow = ReleaseRow & { nodeName: string; wasLinked: boolean }

/** Releases whose lease has run out: at `at` while their agent is unavailable, before `linkedAt` while it is connected. */
export async function expiredReleases(queries: Queries, at: Date, linkedAt: Date): Promise<ExpiredRow[]> {
  const { rows } = await queries.query<ExpiredRow>(
    `select ${releaseColumns}, n.name as node_name,
       coalesce(n.connected_at > r.lease_until - interval '60 seconds', false) as was_linked
     from crux.release r join crux.node n on n.id = r.node_id
     where r.status = 'in-progress' and r.lease_until <= case when n.link_server is null then $1::timestamptz else $2 end
     order by r.started_at, r.id`,
    [at, linkedAt],
  )
  return rows
}
