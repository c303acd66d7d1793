import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Database, openDatabase, type TestDatabase, testDatabase } from './index.ts'
import type { Read } from './shared-reads.ts'

let file: TestDatabase
let database: Database
beforeEach(async () => {
  file = await testDatabase({ key: 'shared-reads', migrate: async () => undefined })
  database = openDatabase({ url: file.url, max: 8 })
  await database.pool.query('create table thing (name text); create sequence calls')
})
afterEach(async () => {
  await database.close()
  await file.drop()
})

/** The query waits for the lock of the test, and returns a number that counts the queries. */
const counted = (value: number): Read => ({
  name: 'counted',
  text: `with gate as materialized (select pg_advisory_xact_lock_shared(1))
    select nextval('calls')::int as call, $1::int as value from gate`,
  values: [value],
})

const waitForBlocked = (count: number) =>
  expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        `select count(*)::int as n from pg_locks join pg_database d on d.oid = database
          where locktype = 'advisory' and not granted and datname = current_database()`,
      )
      return rows[0].n
    })
    .toBe(count)

/** Runs `work` while the test holds the lock, then releases it. */
async function whileLocked(work: () => Promise<void>): Promise<void> {
  const holder = await database.pool.connect()
  await holder.query('select pg_advisory_lock(1)')
  try {
    await work()
  } finally {
    await holder.query('select pg_advisory_unlock(1)')
    holder.release()
  }
}

test('shared reads use one query for the callers that ask while the same query is running', async () => {
  const reads: Promise<readonly { call: number; value: number }[]>[] = []
  const read = (value: number) => void reads.push(database.sharedRead(counted(value)))
  await whileLocked(async () => {
    read(7)
    await waitForBlocked(1)
    for (let n = 0; n < 20; n++) read(7)
    read(8)
    await waitForBlocked(3)
  })
  const rows = (await Promise.all(reads)).flat()
  expect(rows.map((row) => row.value)).toEqual([...Array(21).fill(7), 8])
  expect(new Set(rows.slice(1, 21).map((row) => row.call)).size).toBe(1)
  expect(new Set(rows.map((row) => row.call)).size).toBe(3)
})

test('shared reads send the query again for a caller that asks after the previous one has ended', async () => {
  const [first] = await database.sharedRead<{ call: number }>(counted(1))
  const [second] = await database.sharedRead<{ call: number }>(counted(1))
  expect([first?.call, second?.call]).toEqual([1, 2])
})

test('shared reads return everything that was committed before the call, and do not wait for an older query that hangs', async () => {
  const names: Read = {
    name: 'names',
    text: `select case when exists (select from thing) then (select string_agg(name, ' ') from thing)
      else pg_advisory_xact_lock_shared(1)::text end as names`,
    values: [],
  }
  const hanging: Promise<unknown>[] = []
  await whileLocked(async () => {
    hanging.push(database.sharedRead(names))
    await waitForBlocked(1)
    await database.pool.query("insert into thing values ('new')")
    expect(await database.sharedRead(names)).toEqual([{ names: 'new' }])
    await waitForBlocked(1)
  })
  expect(await Promise.all(hanging)).toEqual([[{ names: '' }]])
})

test('shared reads return an error to every caller, and send the query again afterwards', async () => {
  const missing: Read = { name: 'missing', text: 'select name from missing', values: [] }
  const results = await Promise.allSettled([1, 2, 3].map(() => database.sharedRead(missing)))
  expect(results.map((result) => result.status)).toEqual(['rejected', 'rejected', 'rejected'])
  await database.pool.query("create table missing as select 'found' as name")
  expect(await database.sharedRead(missing)).toEqual([{ name: 'found' }])
})
