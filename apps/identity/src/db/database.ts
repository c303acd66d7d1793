import { openDatabase, type Database as PlainDatabase } from '@crux/postgres'
import { getField } from '@crux/service-kit'
import { DrizzleQueryError } from 'drizzle-orm'
import type { NodePgQueryResultHKT } from 'drizzle-orm/node-postgres'
import type { PgDatabase } from 'drizzle-orm/pg-core'
import * as tableRelations from './relations.ts'
import * as tables from './schema.ts'

const schema = { ...tables, ...tableRelations }

/** The database with the tables of this service and their relations. */
export type Database = PlainDatabase<typeof schema>

/** The database or a transaction. */
export type Executor = PgDatabase<NodePgQueryResultHKT, typeof schema>

export const openIdentityDatabase = (options: Omit<Parameters<typeof openDatabase>[0], 'schema'>): Database =>
  openDatabase({ ...options, schema })

/** A database error that is safe to log: Drizzle's own error contains the values of the statement, among them hashes and mails. */
export function withoutValues(error: unknown): unknown {
  return error instanceof DrizzleQueryError ? (error.cause ?? new Error('a statement failed')) : error
}

/** The name of the unique constraint that a failed statement violated; undefined when it failed for another reason. */
export function violatedUniqueConstraint(error: unknown): string | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    if (getField(cause, 'code') === '23505') return String(getField(cause, 'constraint') ?? 'unknown')
  }
  return undefined
}
