import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { drizzle } from 'drizzle-orm/node-postgres'
import { migrate as runMigrations } from 'drizzle-orm/node-postgres/migrator'
import { Client } from 'pg'

/**
 * Migrates a schema: runs the migrations in `folder` (created by drizzle-kit) that the database does not have. Several processes may start at once:
 * one migrates, the others wait. All migrations are one transaction, so a failure changes nothing.
 *
 * @param options.schema where the journal table is; created when absent
 * @returns the name of the newest migration, undefined when there is none
 */
export async function migrate(options: {
  url: string
  directory: string
  schema: string
}): Promise<string | undefined> {
  const journal = JSON.parse(readFileSync(join(options.directory, 'meta/_journal.json'), 'utf8')) as {
    entries: { tag: string }[]
  }
  const client = new Client({ connectionString: options.url, application_name: 'crux migrate' })
  // Without a listener, a connection that is lost between two statements would end the process instead of rejecting the next one.
  client.on('error', () => undefined)
  await client.connect()
  try {
    await client.query('set client_min_messages to warning')
    await client.query('select pg_advisory_lock($1)', [lockOf(options.schema)])
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

/** 48 bits of a hash, which fit a bigint parameter and a JavaScript number. */
function lockOf(schema: string): number {
  return createHash('sha256').update(`crux migrate ${schema}`).digest().readUIntBE(0, 6)
}
