import { getField } from '@crux/service-kit'
import { DrizzleQueryError } from 'drizzle-orm'
import type { NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgDatabase } from 'drizzle-orm/pg-core'

/** The database or a transaction. */
export type Executor = PgDatabase<NodePgQueryResultHKT>

/** A database error that is safe to log: Drizzle's own error contains the values of the statement, among them hashes and mails. */
export function withoutValues(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? (error.cause ?? new Error('a statement failed')) : error
}

/** The name of the unique constraint that a failed statement violated; undefined when it failed for another reason. */
export function brokenUniqueRule(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (getField(cause, 'code') === '23505') return String(getField(cause, 'constraint') ?? 'unknown')
  }
  return undefined
}
