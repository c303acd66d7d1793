import { posix } from 'node:path'
import { testDatabase } from '@crux/postgres'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import * as identitySchema from '../apps/identity/src/db/schema.ts'
import { migrateIdentity } from '../apps/identity/src/migrate.ts'
import * as serverSchema from '../apps/server/src/db/schema/index.ts'
import { migrateServer } from '../apps/server/src/migrate.ts'
import { describeSchema } from './describe-schema.ts'
import { projectFiles } from './repository.ts'

const journals = projectFiles(/^apps\/[^/]+\/migrations\/meta\/_journal\.json$/)
const sqlFiles = projectFiles(/^apps\/[^/]+\/migrations\/[^/]+\.sql$/).map(({ path }) => path)

test('server and identity have migrations', () => {
  expect(journals.map(({ path }) => path.split('/')[1]).sort()).toEqual(['identity', 'server'])
})

describe.each(journals)('the migrations in $path', ({ path, text }) => {
  const directory = posix.dirname(posix.dirname(path))
  const { entries } = JSON.parse(text) as { entries: { idx: number; when: number; tag: string }[] }

  test('are numbered without a gap, and every file has an entry and every entry a file', () => {
    expect(entries.map(({ idx }) => idx)).toEqual(entries.map((_, index) => index))
    expect(entries.map(({ tag }) => Number(tag.slice(0, 4)))).toEqual(entries.map((_, index) => index))
    expect(sqlFiles.filter((file) => file.startsWith(`${directory}/`)).sort()).toEqual(
      entries.map(({ tag }) => `${directory}/${tag}.sql`).sort(),
    )
  })

  test('have increasing timestamps, because the migrator skips any that are older than the newest applied one', () => {
    const times = entries.map(({ when }) => when)
    expect(times).toEqual([...new Set(times)].sort((a, b) => a - b))
  })
})

/** What Drizzle cannot declare, so only the migrations create it. */
const handWritten = /^(function|trigger|extension) /
const services = [
  {
    service: 'server',
    schema: 'crux',
    code: serverSchema,
    migrate: migrateServer,
    expected: [
      'extension pg_trgm',
      'function count_audit_log() returns trigger',
      'function count_deployments() returns trigger',
      'function quarter_of(timestamp with time zone) returns timestamp with time zone',
      'trigger audit_count_delete after delete on audit_log',
      'trigger audit_count_insert after insert on audit_log',
      'trigger deployment_count_delete after delete on deployment',
      'trigger deployment_count_insert after insert on deployment',
      'trigger deployment_count_update after update on deployment',
    ],
  },
  { service: 'identity', schema: 'identity', code: identitySchema, migrate: migrateIdentity, expected: [] },
]

describe.each(services)('the migrated schema of $service', ({ service, schema, code, migrate, expected }) => {
  test('has the tables, columns, defaults, indexes and constraints that the code declares', async () => {
    const statements = await generateMigration(
      generateDrizzleJson({}),
      generateDrizzleJson(code, undefined, [schema], 'snake_case'),
    )
    const declared = await testDatabase({
      key: `declared-${service}`,
      migrate: (url) =>
        run(url, [
          `create schema "${schema}"`,
          'create extension if not exists pg_trgm',
          ...statements.filter((statement) => !statement.startsWith('CREATE SCHEMA')),
        ]),
    })
    const migrated = await testDatabase({ key: `migrated-${service}`, migrate })
    const [wanted, actual] = await Promise.all(
      [declared, migrated].map(async ({ url }) =>
        (await describeSchema(url, schema)).filter((line) => !handWritten.test(line)),
      ),
    )
    expect(actual).toEqual(wanted)
    expect(actual?.length).toBeGreaterThan(100)
    await Promise.all([declared.drop(), migrated.drop()])
  })

  test('has these functions, triggers and extensions', async () => {
    const migrated = await testDatabase({ key: `migrated-${service}`, migrate })
    expect((await describeSchema(migrated.url, schema)).filter((line) => handWritten.test(line))).toEqual(expected)
    await migrated.drop()
  })
})

async function run(url: string, statements: string[]) {
  const client = new Client({ connectionString: url })
  await client.connect()
  for (const statement of statements) await client.query(statement)
  await client.end()
}
