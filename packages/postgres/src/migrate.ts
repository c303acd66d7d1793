import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as runMigrations } from 'drizzle-orm/node-postgres/migrator'
import { Client, escapeIdentifier } from 'pg'

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
  const client = new Client({ connectionString: options.url, application_name: 'crux migrate' })
  // Without a listener, a connection that is lost between two statements would end the process instead of rejecting the next one.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('set client_min_messages to warning')
    await client.query('select pg_advisory_lock($1)', [lockOf(options.schema)])
    if (await startsElsewhere(client, options.schema, journal.entries[0]?.when))
      throw new DatabaseTooOldError(options.schema)
    await runMigrations(drizzle(client), {
      migrationsFolder: options.directory,
      migrationsSchema: options.schema,
      migrationsTable: 'migrations',
    })
  } finally {
    // This ends the session and releases its lock.
    await client.end()
  }
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
async function startsElsewhere(client: Client, schema: string, firstMs: number | undefined): Promise<boolean> {
  const journal = `${escapeIdentifier(schema)}.migrations`
  const { rows: found } = await client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [
    journal,
  ])
  if (!found[0]?.exists) return false
  const { rows } = await client.query<{ first: string | null }>(`select min(created_at) as first from ${journal}`)
  return typeof rows[0]?.first === 'string' && Number(rows[0].first) !== firstMs
}

/** 48 bits of a hash, which fit a bigint parameter and a JavaScript number. */
function lockOf(schema: string): number {
  return createHash('sha256').update(`crux migrate ${schema}`).digest().readUIntBE(0, 6)
}
