import type { Queries } from './transaction.ts'

/**
 * Who locks rows of several of these tables in one transaction does it in this order, rows of one table by their id: two that meet
 * wait once, and never for each other. Before them comes the project, also for who adds a deployment; nodes and the team come after.
 */
const order = ['version', 'deployment', 'image', 'instance', 'config_bundle', 'container_config'] as const

/** For writing, one row each; null and absent are left out. Those who refer to a row by a foreign key are let through. */
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
