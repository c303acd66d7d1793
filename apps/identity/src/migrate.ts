import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { migrate } from '@crux/postgres'
import { schemaName } from './db/schema.ts'

const migrationsBesideUs = join(dirname(fileURLToPath(import.meta.url)), '../migrations')

/** Migrates the schema `identity`; also used for the template database of tests. */
export function migrateIdentity(url: string, directory = migrationsBesideUs): Promise<string | undefined> {
  return migrate({ url, directory, schema: schemaName })
}
