import type { PoolClient } from 'pg'

/** The interface for stores with SQL of their own: the pool, or the client of a transaction. */
export type Queries = Pick<PoolClient, 'query'>
type Connects = { pool: { connect(): Promise<PoolClient> } }

/** Commits when `work` resolves, rolls back when it rejects. For stores in SQL; `database.transaction` is for Drizzle's. */
export async function inTransaction<T>(database: Connects, work: (queries: Queries) => Promise<T>): Promise<T> {
  const client = await database.pool.connect()
  let broken: Error | undefined
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
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
