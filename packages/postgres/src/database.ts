import type { Logger } from '@crux/service-kit'
import type { DrizzleConfig } from 'drizzle-orm'
import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres'
import { Pool, type PoolClient } from 'pg'
import { createSharedReads, type SharedRead } from './shared-reads.ts'

type Schema = Record<string, unknown>

export interface Database<S extends Schema = Record<string, never>> {
  /** For hot paths with prepared statements of their own, and for statements that Drizzle does not support. */
  pool: Pool
  /** For lists with many readers: concurrent callers share one query. */
  sharedRead: SharedRead
  db: NodePgDatabase<S>
  /** Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (tx: Transaction<S>) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export type Transaction<S extends Schema = Record<string, never>> = Parameters<
  Parameters<NodePgDatabase<S>['transaction']>[0]
>[0]

/**
 * A pool that outlives its server: a lost connection is logged and replaced by the next query. Connections are opened on demand.
 *
 * @param options.max connections at most
 * @param options.name shown in pg_stat_activity
 */
export function openDatabase<S extends Schema = Record<string, never>>(options: {
  url: string
  max?: number
  log?: Logger
  name?: string
  schema?: S
  /** Rows of SQL text have the names of their columns in camelCase: `created_at` is `row.createdAt`, without an alias. */
  camelCase?: boolean
}): Database<S> {
  const pool = new Pool({
    connectionString: options.url,
    max: options.max ?? 10,
    application_name: options.name ?? 'crux',
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    // Statements that a transaction issues together are sent at once and answered in order: one round trip for all.
    pipeline: true,
  })
  const lost = (err: Error) => options.log?.warn({ err }, 'lost a database connection')
  pool.on('error', lost)
  // A connection that is lost between two statements of a transaction has no other listener, so its error would end the process.
  pool.on('connect', (client) => void client.on('error', lost))
  if (options.camelCase) pool.on('connect', renameColumns)
  const config: DrizzleConfig<S> = { casing: 'snake_case', ...(options.schema && { schema: options.schema }) }
  const db = drizzle<S>(pool, config)
  let closing: Promise<void> | undefined
  return {
    pool,
    sharedRead: createSharedReads(pool),
    db,
    transaction: (work) => db.transaction(work),
    close() {
      closing ??= pool.end()
      return closing
    },
  }
}

/**
 * Renames the columns when PostgreSQL describes a result, before the driver reads the first row. This costs nothing per row. Drizzle is not affected,
 * because it reads columns by position.
 */
function renameColumns(client: PoolClient): void {
  client.connection.prependListener('rowDescription', ({ fields }: { fields: { name: string }[] }) => {
    for (const field of fields) if (field.name.includes('_')) field.name = toCamelCase(field.name)
  })
}

const toCamelCase = (name: string) => name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
