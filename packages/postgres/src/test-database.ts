import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { getProvided, provideForRun } from '@crux/service-kit/test-run'
import { escapeIdentifier } from 'pg'
import { lockName, withClient } from './client.ts'
import { removeEmbedded, startEmbedded } from './embedded/supervisor.ts'

export interface TestDatabase {
  url: string
  drop(): Promise<void>
}

const clientName = 'crux test'
const urlVariable = 'TEST_DATABASE_URL'
const runVariable = 'CRUX_TEST_RUN'
const providerVariable = 'CRUX_TEST_CLUSTER'

/**
 * Provides the cluster of a test run to this process and its children, which find it by their environment. It starts when the first of them asks for
 * a database, so that tests without one do not wait for it. TEST_DATABASE_URL replaces it.
 */
export async function provideTestCluster(): Promise<{ stop(): Promise<void> }> {
  const run = randomBytes(4).toString('hex')
  process.env[runVariable] = run
  const given = process.env[urlVariable]
  if (given) return { stop: () => dropRun(given, run) }

  return provideForRun(providerVariable, startCluster)
}

async function startCluster(): Promise<{ text: string; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'crux-test-'))
  const log = createLogger({ name: 'test-postgres', level: 'error' })
  const embedded = await startEmbedded({ dataDir, log, durable: false })
  return {
    text: embedded.url,
    async stop() {
      await embedded.stop()
      removeEmbedded({ dataDir })
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * Creates a database for one caller, cloned in some 50 ms from a template that the first caller of the run migrates.
 *
 * @param options.key names the template: callers with the same migrations share it
 */
export async function testDatabase(options: {
  key: string
  migrate: (url: string) => Promise<unknown>
}): Promise<TestDatabase> {
  const cluster = process.env[urlVariable] || (await getProvided(providerVariable, 'PostgreSQL'))
  const run = process.env[runVariable] ?? 'shared'
  const template = `test_${run}_template_${options.key.replace(/\W/g, '_')}`
  const name = `test_${run}_${randomBytes(6).toString('hex')}`
  await withClient(cluster, clientName, async (client) => {
    await lockName(client, template)
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1 and datistemplate', [
      template,
    ])
    if (rowCount === 0) {
      // A template without the mark was left incomplete by a test run that was killed.
      await client.query(`drop database if exists ${escapeIdentifier(template)} with (force)`)
      await client.query(`create database ${escapeIdentifier(template)}`)
      await options.migrate(databaseUrl(cluster, template))
      await client.query(`alter database ${escapeIdentifier(template)} is_template true`)
    }
    await client.query(`create database ${escapeIdentifier(name)} template ${escapeIdentifier(template)}`)
  })
  return {
    url: databaseUrl(cluster, name),
    drop: () =>
      withClient(
        cluster,
        clientName,
        async (client) => void (await client.query(`drop database if exists ${escapeIdentifier(name)} with (force)`)),
      ),
  }
}

async function dropRun(url: string, run: string): Promise<void> {
  await withClient(url, clientName, async (client) => {
    const { rows } = await client.query<{ datname: string }>('select datname from pg_database where datname like $1', [
      `test\\_${run}\\_%`,
    ])
    for (const { datname } of rows) {
      await client.query(`alter database ${escapeIdentifier(datname)} is_template false`)
      await client.query(`drop database if exists ${escapeIdentifier(datname)} with (force)`)
    }
  })
}

function databaseUrl(clusterUrl: string, name: string): string {
  const url = new URL(clusterUrl)
  url.pathname = `/${name}`
  return url.href
}
