import { type Queries, sql } from '../db/queries.ts'

/** Fails while the database is unavailable. */
export const ping = (queries: Queries) => sql`select 1`.execute(queries)

const retentionLock = sql`hashtextextended('event retention', 0)`

/** The lock belongs to the connection. @returns whether no other server process holds it */
export const tryRetentionLock = (queries: Queries) =>
  sql`select pg_try_advisory_lock(${retentionLock})`.value<boolean>(queries)

export const releaseRetentionLock = (queries: Queries) =>
  sql`select pg_advisory_unlock(${retentionLock})`.execute(queries)

export const countLinkedNodes = async (queries: Queries): Promise<number> =>
  (await sql`select count(*)::int from crux.node where link_server is not null`.value<number>(queries)) ?? 0

export const countRegistryTypes = (queries: Queries) =>
  sql`select type, count(*)::int as count from crux.registry group by type`.rows<{ type: string; count: number }>(
    queries,
  )
