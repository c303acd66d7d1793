import { type Queries, raw, sql } from './queries.ts'

/**
 * Transactions that lock rows of several of these tables use this order, and for rows of one table the order of ids, so
 * that deadlocks cannot occur. The project comes before them, also for transactions that add a deployment; nodes and
 * the team come after.
 */
const order = ['version', 'deployment', 'image', 'instance', 'config_bundle', 'container_config'] as const

/**
 * Locks one row of each for writing; null and absent ones are left out. Transactions that refer to a row by a foreign
 * key are not blocked.
 */
export async function lockInOrder(
  queries: Queries,
  rows: Partial<Record<(typeof order)[number], string | null>>,
): Promise<void> {
  for (const table of order) {
    const id = rows[table]
    if (id)
      await sql`select from crux.${raw(table)} where id = ${id}
        for no key update`.execute(queries, `hold ${table}`)
  }
}

/** Waits for the other transactions with this name, which is no row: it is released when the transaction ends. */
export const lockByName = (queries: Queries, name: string) =>
  sql`select pg_advisory_xact_lock(hashtextextended(${name}, 0))`.execute(queries)

/** The same for transactions that do not wait for each other, but for those with `lockByName`, which wait for them too. */
export const shareByName = (queries: Queries, name: string) =>
  sql`select pg_advisory_xact_lock_shared(hashtextextended(${name}, 0))`.execute(queries)
