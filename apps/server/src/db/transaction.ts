import type { PoolClient } from 'pg'
import type { Queries } from './queries.ts'

type Connects = { pool: { connect(): Promise<PoolClient> } }

/**
 * Commits when `work` resolves, rolls back when it rejects. For stores in SQL; `database.transaction` is for Drizzle's.
 *
 * Statements that `work` issues together, e.g. with Promise.all, take one round trip and run in the order in which they
 * were issued. Each of them must be a single statement: one that was issued after another had failed would run outside
 * of the transaction.
 */
export const inTransaction = <T>(database: Connects, work: (queries: Queries) => Promise<T>): Promise<T> =>
  run(database, work, 'commit')

/** As `inTransaction`, but nothing is stored: for previews of what `work` would write. */
export const inRolledBackTransaction = <T>(database: Connects, work: (queries: Queries) => Promise<T>): Promise<T> =>
  run(database, work, 'rollback')

async function run<T>(
  database: Connects,
  work: (queries: Queries) => Promise<T>,
  end: 'commit' | 'rollback',
): Promise<T> {
  const client = await database.pool.connect()
  let broken: Error | undefined
  try {
    // It is sent together with the first statement of `work`. Only a lost connection makes it fail, and then all others.
    const begun = client.query('begin')
    const [result] = await Promise.all([work(client), begun])
    await client.query(end)
    return result
  } catch (error) {
    await client.query('rollback').catch((cause: Error) => {
      broken = cause
    })
    throw error
  } finally {
    // A connection that cannot roll back is not reused.
    client.release(broken)
  }
}
