import type { Queries } from './transaction.ts'

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
      await queries.query({
        name: `hold ${table}`,
        text: `select from crux.${table} where id = $1 for no key update`,
        values: [id],
      })
  }
}
