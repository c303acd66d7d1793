import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger } from '@crux/service-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { listen, migrate, openDatabase, type TestDatabase, testDatabase } from './index.ts'

const log = createLogger({ name: 'test', level: 'silent' })
const directory = makeMigrations([
  'create table sample.thing (id int primary key)',
  'alter table sample.thing add column name text',
])
let test1: TestDatabase

beforeAll(async () => {
  test1 = await testDatabase({
    key: 'postgres-sample',
    migrate: (url) => migrate({ url, directory, schema: 'sample' }),
  })
})
afterAll(() => test1.drop())

describe('migrate', () => {
  test('runs each migration once when several processes start together, and returns the name of the newest', async () => {
    const names = await Promise.all(
      [1, 2, 3, 4].map(() => migrate({ url: test1.url, directory, schema: 'other_journal' }).catch(() => 'clash')),
    )
    // The tables exist already, so every migration of a second journal fails as a whole and leaves nothing behind.
    expect(names).toEqual(['clash', 'clash', 'clash', 'clash'])
    const again = await Promise.all([1, 2, 3, 4].map(() => migrate({ url: test1.url, directory, schema: 'sample' })))
    expect(again).toEqual(Array(4).fill('0001_step'))
    const database = openDatabase({ url: test1.url })
    const { rows } = await database.pool.query('select count(*)::int as n from sample.migrations')
    expect(rows).toEqual([{ n: 2 }])
    await database.close()
  })

  test('refuses a database whose first migration is another one, says what to do, and changes nothing', async () => {
    const squashed = makeMigrations(['create table sample.thing (id int primary key, name text)'], 2_000)
    await expect(migrate({ url: test1.url, directory: squashed, schema: 'sample' })).rejects.toThrow(
      /before the first release.*Start with an empty database/,
    )
    expect(await migrate({ url: test1.url, directory, schema: 'sample' })).toBe('0001_step')
  })

  test('accepts a database that has newer migrations than this program', async () => {
    const older = makeMigrations(['create table sample.thing (id int primary key)'])
    expect(await migrate({ url: test1.url, directory: older, schema: 'sample' })).toBe('0000_step')
  })
})

describe('openDatabase', () => {
  test('names columns in camelCase for SQL text, also in prepared statements and transactions, and not inside of JSON', async () => {
    const database = openDatabase({ url: test1.url, camelCase: true, log })
    const text = `select 1 as team_id, 2 as "nodeId", json_build_object('a_b', 3) as some_json, now() as created_at`
    const wanted = [{ teamId: 1, nodeId: 2, someJson: { a_b: 3 }, createdAt: expect.any(Date) }]
    const named = { name: 'names', text }
    for (const statement of [text, named, named]) expect((await database.pool.query(statement)).rows).toEqual(wanted)
    expect(await database.sharedRead({ name: 'shared names', text, values: [] })).toEqual(wanted)
    const client = await database.pool.connect()
    expect((await Promise.all([client.query('begin'), client.query(text), client.query('rollback')]))[1].rows).toEqual(
      wanted,
    )
    client.release()
    await database.close()
  })

  test('reconnects after every connection was cut, also during a transaction', async () => {
    const database = openDatabase({ url: test1.url, max: 2, name: 'cut-me', log })
    await database.pool.query('select 1')
    const broken = database.transaction(async (tx) => {
      await tx.execute('select 1')
      await cutConnections(test1.url, 'cut-me')
      await tx.execute('select 1')
    })
    await expect(broken).rejects.toThrow()
    await expect
      .poll(() =>
        database.pool
          .query('select 7 as n')
          .then(({ rows }) => rows)
          .catch(() => undefined),
      )
      .toEqual([{ n: 7 }])
    await database.close()
  })

  test('rolls back a failed transaction', async () => {
    const database = openDatabase({ url: test1.url })
    const work = database.transaction(async (tx) => {
      await tx.execute('insert into sample.thing (id) values (1)')
      throw new Error('no')
    })
    await expect(work).rejects.toThrow('no')
    expect((await database.pool.query('select 1 from sample.thing where id = 1')).rowCount).toBe(0)
    await database.close()
  })
})

describe('listen', () => {
  test('delivers notifications, reconnects after its connection was cut and reports it', async () => {
    const heard: string[] = []
    let reconnects = 0
    const listener = listen({
      url: test1.url,
      channel: ['news', 'Other "Channel"'],
      log,
      onMessage: (payload, channel) => void heard.push(`${channel}:${payload}`),
      onReconnect: () => void reconnects++,
    })
    await listener.ready
    const database = openDatabase({ url: test1.url })
    await database.pool.query("select pg_notify('news', 'one')")
    await expect.poll(() => heard).toEqual(['news:one'])
    await cutConnections(test1.url, 'crux listen')
    await expect.poll(() => reconnects).toBe(1)
    await database.pool.query(`select pg_notify('Other "Channel"', 'two')`)
    await expect.poll(() => heard).toEqual(['news:one', 'Other "Channel":two'])
    await listener.stop()
    await database.close()
  })

  test('waits for a server that has not started yet', async () => {
    const nowhere = listen({ url: 'postgres://a@127.0.0.1:1/a', channel: 'x', onMessage: () => undefined, log })
    const first = await Promise.race([
      nowhere.ready.then(() => 'ready'),
      new Promise((resolve) => setImmediate(resolve, 'waiting')),
    ])
    expect(first).toBe('waiting')
    await nowhere.stop()
  })
})

describe('testDatabase', () => {
  test('gives each caller a database of its own with the same tables', async () => {
    const other = await testDatabase({
      key: 'postgres-sample',
      migrate: () => Promise.reject(new Error('migrated twice')),
    })
    const a = openDatabase({ url: test1.url })
    const b = openDatabase({ url: other.url })
    await a.pool.query('insert into sample.thing (id) values (9)')
    expect((await b.pool.query('select * from sample.thing')).rows).toEqual([])
    await Promise.all([a.close(), b.close()])
    await other.drop()
    await expect(openDatabase({ url: other.url }).pool.query('select 1')).rejects.toThrow(/does not exist/)
  })
})

async function cutConnections(url: string, name: string): Promise<void> {
  const database = openDatabase({ url, name: 'scissors' })
  const { rowCount } = await database.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1',
    [name],
  )
  expect(rowCount).toBeGreaterThan(0)
  await database.close()
}

function makeMigrations(statements: string[], firstMs = 1_000): string {
  const directory = mkdtempSync(join(tmpdir(), 'migrations-'))
  mkdirSync(join(directory, 'meta'))
  const entries = statements.map((sql, idx) => {
    const tag = `000${idx}_step`
    writeFileSync(join(directory, `${tag}.sql`), sql)
    return { idx, version: '7', when: firstMs + idx, tag, breakpoints: true }
  })
  writeFileSync(join(directory, 'meta/_journal.json'), JSON.stringify({ version: '7', dialect: 'postgresql', entries }))
  return directory
}
