import type { App } from '../context.ts'

/** Small enough that transactions that write events do not wait for a deletion. */
const eventsPerDelete = 5_000
/** The container list of a node reads this many of them to show which user stopped a container. */
const keptCommands = 200

export const eventsOfNode = `delete from crux.node_event where id in (
  select id from crux.node_event
  where node_id = $1 and created_at < $2 and (event <> 'containerCommand' or created_at < $3)
  order by created_at, id limit ${eventsPerDelete})`

/**
 * Deletes old events of nodes, except the newest container commands of each. Reads node by node along the index of newest events, so that recent events
 * are not read.
 */
export async function deleteEventsOfNodes(
  { database }: Pick<App, 'database'>,
  before: Date,
  end: number,
): Promise<number> {
  const nodes = await database.pool.query<{ id: string }>('select id from crux.node')
  let dropped = 0
  for (const { id } of nodes.rows) {
    if (Date.now() >= end) break
    const { rows } = await database.pool.query<{ at: Date }>(
      `select created_at as at from crux.node_event where node_id = $1 and event = 'containerCommand'
       order by created_at desc nulls first, id desc nulls first offset ${keptCommands - 1} limit 1`,
      [id],
    )
    let count = eventsPerDelete
    while (count === eventsPerDelete && Date.now() < end) {
      const values = [id, before, rows[0]?.at ?? '-infinity']
      count = (await database.pool.query(eventsOfNode, values)).rowCount ?? 0
      dropped += count
    }
  }
  return dropped
}
