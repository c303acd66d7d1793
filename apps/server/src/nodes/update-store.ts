import { type Queries, raw, sql } from '../db/queries.ts'
import type { nodeUpdate } from '../db/schema/index.ts'

export type UpdateRow = typeof nodeUpdate.$inferSelect
/** What an event of an update names. */
export type EndedUpdate = Pick<
  UpdateRow,
  'nodeId' | 'fromVersion' | 'image' | 'startedById' | 'startedByName' | 'error'
> & {
  teamId: string
}

/** Whether an update of the agent of node `n` is in progress. */
export const isUpdatingSql = raw(
  'exists (select from crux.node_update u where u.node_id = n.id and u.ended_at is null)',
)

const endedColumns = raw('u.node_id, u.from_version, u.image, u.started_by_id, u.started_by_name, u.error, n.team_id')

export const findUpdate = (queries: Queries, nodeId: string) =>
  sql`select * from crux.node_update where node_id = ${nodeId}`.first<UpdateRow>(queries)

export const insertUpdate = (
  queries: Queries,
  update: Pick<
    UpdateRow,
    'nodeId' | 'id' | 'tokenHash' | 'token' | 'image' | 'fromVersion' | 'startedById' | 'startedByName'
  > & { timeoutMs: number },
) =>
  sql`insert into crux.node_update (node_id, id, state, token_hash, token, image, from_version, started_by_id,
      started_by_name, deadline_at)
    values (${update.nodeId}, ${update.id}, 'preparing', ${update.tokenHash}, ${update.token}, ${update.image},
      ${update.fromVersion}, ${update.startedById}, ${update.startedByName},
      now() + ${update.timeoutMs} * interval '1 millisecond')
    on conflict (node_id) do update set id = excluded.id, state = excluded.state, token_hash = excluded.token_hash,
      token = excluded.token, previous_hash = null, image = excluded.image, from_version = excluded.from_version,
      started_by_id = excluded.started_by_id, started_by_name = excluded.started_by_name, started_at = now(),
      deadline_at = excluded.deadline_at, ended_at = null, error = null`.execute(queries)

/** Whether a release of the node is in progress. */
export const hasOpenRelease = async (queries: Queries, nodeId: string): Promise<boolean> =>
  (await sql`select from crux.release
    where node_id = ${nodeId} and status = 'in-progress' limit 1`.execute(queries)) > 0

/** Fails an update that has not ended. Only the first of several callers gets the row. */
export const failUpdate = (
  queries: Queries,
  where: { nodeId: string; id?: string; unlessClosed?: boolean },
  error: string,
) =>
  sql`update crux.node_update u set state = 'failed', ended_at = now(), token = null, error = ${error}
    from crux.node n
    where n.id = u.node_id and u.node_id = ${where.nodeId} and u.ended_at is null
      and (${where.id ?? null}::uuid is null or u.id = ${where.id ?? null}::uuid)
      and not (${where.unlessClosed ?? false} and u.state = 'closed')
    returning ${endedColumns}`.first<EndedUpdate>(queries)

export const failOverdueUpdates = (queries: Queries, error: string) =>
  sql`update crux.node_update u set state = 'failed', ended_at = now(), token = null, error = ${error}
    from crux.node n where n.id = u.node_id and u.ended_at is null and u.deadline_at <= now()
    returning ${endedColumns}`.rows<EndedUpdate>(queries, 'fail overdue updates')

/** The old agent has closed its journal. */
export const markClosed = (queries: Queries, nodeId: string, id: string) =>
  sql`update crux.node_update set state = 'closed'
    where node_id = ${nodeId} and id = ${id} and state = 'ready'`.execute(queries)

/** The new agent runs. With `previousEnded`, it need not wait until the old one has closed its journal. */
export const markReady = (queries: Queries, id: string, tokenHash: string, previousEnded: boolean) =>
  sql`update crux.node_update set state = case when ${previousEnded} then 'closed' else 'ready' end
    where id = ${id} and token_hash = ${tokenHash} and deadline_at > now()
      and (state = 'preparing' or (state = 'ready' and ${previousEnded}))`.execute(queries)

export const findUpdateByToken = (queries: Queries, id: string, tokenHash: string) =>
  sql`select * from crux.node_update where id = ${id} and token_hash = ${tokenHash}`.first<UpdateRow>(queries)

/** The update that replaced this token. */
export const findUpdateByPreviousToken = (queries: Queries, id: string, previousHash: string) =>
  sql`select * from crux.node_update
    where id = ${id} and previous_hash = ${previousHash} and state = 'completed'`.first<UpdateRow>(queries)

/**
 * Completes an update whose journal is closed: its token becomes the connection token of the node, and the previous one
 * is invalid. One statement, so that the deadline and the new agent cannot both win.
 */
export const completeUpdate = (queries: Queries, nodeId: string, tokenHash: string) =>
  sql`with done as (
      update crux.node_update u set state = 'completed', ended_at = now(), token = null, previous_hash = t.hash
      from crux.node_token t
      where u.node_id = ${nodeId} and t.node_id = u.node_id and u.token_hash = ${tokenHash} and u.state = 'closed'
        and u.deadline_at > now()
      returning u.*),
    replaced as (
      update crux.node_token t set hash = done.token_hash, next_hash = null, next_token = null, used_at = now(),
        created_at = now()
      from done where t.node_id = done.node_id returning t.node_id)
    select u.node_id, u.from_version, u.image, u.started_by_id, u.started_by_name, u.error, n.team_id
    from done u join replaced using (node_id) join crux.node n on n.id = u.node_id`.first<EndedUpdate>(queries)
