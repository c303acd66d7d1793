import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as runMigrations } from 'drizzle-orm/node-postgres/migrator'
import { type Client, escapeIdentifier } from 'pg'
import { lockName, withClient } from './client.ts'

/**
 * Migrates a schema: runs the migrations in `directory` (created by drizzle-kit) that the database does not have. Several processes may start at once:
 * one migrates, the others wait. All migrations are one transaction, so a failure changes nothing.
 *
 * @param options.schema where the journal table is; created when absent
 * @returns the name of the newest migration, undefined when there is none
 * @throws DatabaseTooOldError when the tables were created by migrations that are no longer shipped
 */
export async function migrate(options: {
  url: string
  directory: string
  schema: string
}): Promise<string | undefined> {
  const journal: { entries: { tag: string; when: number }[] } = JSON.parse(
    readFileSync(join(options.directory, 'meta/_journal.json'), 'utf8'),
  )
  await withClient(options.url, 'crux migrate', async (client) => {
    await lockName(client, `crux migrate ${options.schema}`)
    if (await hasOtherFirstMigration(client, options.schema, journal.entries[0]?.when))
      throw new DatabaseTooOldError(options.schema)
    await runMigrations(drizzle(client), {
      migrationsFolder: options.directory,
      migrationsSchema: options.schema,
      migrationsTable: 'migrations',
    })
  })
  return journal.entries.at(-1)?.tag
}

/** The tables come from before the first migration of the directory, which therefore cannot continue them. */
export class DatabaseTooOldError extends Error {
  override name = 'DatabaseTooOldError'

  constructor(schema: string) {
    super(
      `The database was created by a version of Crux from before the first release, and its schema "${schema}" cannot be upgraded. ` +
        'Start with an empty database: set another DATABASE_URL, or move the data directory away if Crux runs its own PostgreSQL.',
    )
  }
}

/** Whether the first migration that the database has is another one than `firstMs`. Later ones may be newer than this program. */
async function hasOtherFirstMigration(client: Client, schema: string, firstMs: number | undefined): Promise<boolean> {
  const journal = `${escapeIdentifier(schema)}.migrations`
  const { rows: found } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    journal,
  ])
  if (!found[0]?.exists) return false
  const { rows } = await client.query<{ first: string | null }>(`select min(created_at) as first from ${journal}`)
  return typeof rows[0]?.first === 'string' && Number(rows[0].first) !== firstMs
}
