import type { App } from '../context.ts'
import { deleteInBatches } from '../db/delete-in-batches.ts'
import { raw, sql } from '../db/queries.ts'

/** Small enough that transactions that write events do not wait for a deletion. */
const eventsPerDelete = 5_000
/** The container list of a node reads this many of them to show which user stopped a container. */
const keptCommands = 200

export const eventsOfNode = (nodeId: string, before: Date, keptSince: Date | '-infinity') =>
  sql`delete from crux.node_event where id in (
    select id from crux.node_event
    where node_id = ${nodeId} and created_at < ${before} and (event <> 'containerCommand' or created_at < ${keptSince})
    order by created_at, id limit ${raw(eventsPerDelete)})`

/**
 * Deletes old events of nodes, except the newest container commands of each. Reads node by node along the index of
 * newest events, so that recent events are not read.
 */
export async function deleteEventsOfNodes(
  { database }: Pick<App, 'database'>,
  before: Date,
  end: number,
): Promise<number> {
  const { pool } = database
  let dropped = 0
  for (const id of await sql`select id from crux.node`.column(pool)) {
    if (Date.now() >= end) break
    const kept = await sql`select created_at as at from crux.node_event
      where node_id = ${id} and event = 'containerCommand'
      order by created_at desc nulls first, id desc nulls first
      offset ${raw(keptCommands - 1)} limit 1`.first<{ at: Date }>(pool)
    const deletion = eventsOfNode(id, before, kept?.at ?? '-infinity')
    dropped += await deleteInBatches(eventsPerDelete, end, () => deletion.execute(pool))
  }
  return dropped
}
