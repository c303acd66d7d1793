import { type Database, openDatabase } from '@crux/postgres'
import * as schema from './schema/index.ts'

/** The database with the tables of the server; rows of SQL text have camelCase names, as those of Drizzle. */
export const openServerDatabase = (
  options: Omit<Parameters<typeof openDatabase>[0], 'schema' | 'camelCase'>,
): Database<typeof schema> => openDatabase({ ...options, schema, camelCase: true })
