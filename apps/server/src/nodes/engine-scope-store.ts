import type { EngineScope } from '@crux/rules'
import type { App } from '../context.ts'
import { type Queries, sql } from '../db/queries.ts'

/** A reinstalled node has a few predecessors; for a team that deletes more nodes than this the oldest are left out. */
const deletedNodesMax = 1_000

/** The containers of an engine that a command of this team may access through the node. Every container command includes it. */
export async function engineScope(
  app: Pick<App, 'database'>,
  owner: { teamId: string; nodeId: string },
): Promise<EngineScope & { deletedNodeIds: string[] }> {
  const { teamId, nodeId } = owner
  return { teamId, nodeId, deletedNodeIds: await deletedNodeIds(app.database.pool, teamId) }
}

/** The newest ids come first. */
export const deletedNodeIds = (queries: Queries, teamId: string) =>
  sql`select node_id as id from crux.deleted_node where team_id = ${teamId}
    order by deleted_at desc nulls first,
    node_id desc nulls first limit ${deletedNodesMax}`.column(queries, 'deleted nodes of team')

/** Call it in the transaction that deletes the node. */
export async function recordDeletedNode(queries: Queries, teamId: string, nodeId: string): Promise<void> {
  await sql`insert into crux.deleted_node (node_id, team_id) values (${nodeId}, ${teamId})
    on conflict do nothing`.execute(queries)
  await sql`delete from crux.deleted_node where team_id = ${teamId} and node_id in (
    select node_id from crux.deleted_node where team_id = ${teamId}
    order by deleted_at desc nulls first, node_id desc nulls first offset ${deletedNodesMax})`.execute(queries)
}
