import { afterAll, beforeAll, expect, test } from 'vitest'
import { isoTypes, openDatabase, type TestDatabase, testDatabase } from './index.ts'

let test1: TestDatabase
beforeAll(async () => {
  test1 = await testDatabase({ key: 'empty', migrate: async () => undefined })
})
afterAll(() => test1.drop())

test.each(['UTC', 'Asia/Kolkata'])(
  'isoTypes returns dates in the format of JSON for the session time zone %s',
  async (zone) => {
    const database = openDatabase({ url: test1.url, max: 1 })
    await database.pool.query(`set timezone = '${zone}'`)
    const text = `select x as at, 7 as n, null::timestamptz as none from unnest(array[
    '2026-01-02 03:04:05+00', '2026-01-02 03:04:05.6+00', '2026-12-31 23:59:59.987+00', '1999-02-03 04:05:06.07+02']::timestamptz[]) x`
    const dates = await database.pool.query<{ at: Date }>(text)
    const texts = await database.pool.query<{ at: string; n: number; none: null }>({ text, types: isoTypes })
    await database.close()
    expect(texts.rows.map((row) => row.at)).toEqual(dates.rows.map((row) => row.at.toISOString()))
    expect(texts.rows[0]).toEqual({ at: '2026-01-02T03:04:05.000Z', n: 7, none: null })
  },
)
