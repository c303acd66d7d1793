import { DrizzleQueryError } from 'drizzle-orm'
import type { NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgDatabase } from 'drizzle-orm/pg-core'

/** The database or a transaction on it. */
export type Executor = PgDatabase<NodePgQueryResultHKT>

/**
 * An error of the database for a log: Drizzle's own holds the values of the statement, among them hashes and mails.
 */
export function withoutValues(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? (error.cause ?? new Error('a statement failed')) : error
}

/** Which unique rule of PostgreSQL a failed statement broke, if that is why it failed. */
export function brokenUniqueRule(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, constraint } = cause as { code?: string; constraint?: string }
    if (code === '23505') return constraint ?? 'unknown'
  }
  return undefined
}
