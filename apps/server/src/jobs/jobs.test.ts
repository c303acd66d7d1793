import type { TestDatabase } from '@crux/postgres'
import { createLogger } from '@crux/service-kit'
import { Pool } from 'pg'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { serverDatabase, until } from '../../test/kit/index.ts'
import { inTransaction } from '../db/transaction.ts'
import { createJobs, type Jobs } from './jobs.ts'

let database: TestDatabase
let pool: Pool
let jobs: Jobs
const done: number[] = []
let failures = 0

beforeAll(async () => {
  database = await serverDatabase()
  pool = new Pool({ connectionString: database.url, max: 2 })
  jobs = createJobs({ url: database.url, database: { pool }, log: createLogger({ name: 'test', level: 'silent' }) })
  jobs.handle<{ number: number }>('count', {}, async ({ number }) => void done.push(number))
  jobs.handle('fail-once', { retryDelayS: 1 }, async () => {
    if (failures++ === 0) throw new Error('not now')
  })
  await jobs.start()
})
afterAll(async () => {
  await jobs.stop()
  await pool.end()
  await database.drop()
})

it('the queue runs many concurrent jobs one after another, without a delay between them', async () => {
  await inTransaction({ pool }, async (within) => {
    for (let number = 0; number < 20; number++) await jobs.send('count', { number }, { within })
  })
  // With a delay of 5 s each they would take a minute and a half.
  await until(() => done.length === 20, 10_000)
  expect([...done].sort((one, other) => one - other)).toEqual(Array.from({ length: 20 }, (_, index) => index))
})

it('a job is part of the transaction that it was sent within', async () => {
  const before = done.length
  const failed = inTransaction({ pool }, async (within) => {
    await jobs.send('count', { number: 100 }, { within })
    throw new Error('no')
  })
  await expect(failed).rejects.toThrow('no')
  await jobs.send('count', { number: 101 })
  await until(() => done.includes(101))
  expect(done.slice(before)).toEqual([101])
})

it('a job is tried again soon after a failure', async () => {
  await jobs.send('fail-once', {})
  await until(() => failures === 2, 15_000)
})
