import type { EngineScope } from '@crux/rules'
import { sql } from 'drizzle-orm'
import type { App } from '../context.ts'
import { deletedNode } from '../db/schema/index.ts'
import type { Queries } from '../db/transaction.ts'

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
export async function deletedNodeIds(queries: Queries, teamId: string): Promise<string[]> {
  const { rows } = await queries.query<{ id: string }>({
    name: 'deleted nodes of team',
    text: `select node_id as id from crux.deleted_node where team_id = $1
      order by deleted_at desc nulls first, node_id desc nulls first limit $2`,
    values: [teamId, deletedNodesMax],
  })
  return rows.map(({ id }) => id)
}

/** Call it in the transaction that deletes the node. */
export async function recordDeletedNode(tx: Transaction, teamId: string, nodeId: string): Promise<void> {
  await tx.insert(deletedNode).values({ nodeId, teamId }).onConflictDoNothing()
  await tx.execute(sql`delete from crux.deleted_node where team_id = ${teamId} and node_id in (
    select node_id from crux.deleted_node where team_id = ${teamId}
    order by deleted_at desc nulls first, node_id desc nulls first offset ${deletedNodesMax})`)
}

type Transaction = Parameters<Parameters<App['database']['transaction']>[0]>[0]
