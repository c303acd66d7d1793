import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from '@crux/postgres'
import { schemaName } from './db/schema.ts'

const migrationsBesideUs = join(dirname(fileURLToPath(import.meta.url)), '../migrations')

/** Brings the schema `identity` up to date; for a template database of tests, too. */
export function migrateIdentity(url: string, directory = migrationsBesideUs): Promise<string | undefined> {
  return migrate({ url, directory, schema: schemaName })
}
