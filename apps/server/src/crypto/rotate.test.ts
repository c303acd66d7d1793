import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { openDatabase, type TestDatabase } from '@crux/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverDatabase } from '../../test/kit/index.ts'
import * as schema from '../db/schema/index.ts'
import { createCipher, generateKey } from './cipher.ts'
import { resealAll } from './rotate.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await serverDatabase()
})
afterAll(() => database.drop())

test('seals every stored credential under the new key, and changes nothing when one cannot be opened', async () => {
  const [old, current] = [generateKey(), generateKey()]
  const opened = openDatabase({ url: database.url, schema })
  const { pool } = opened
  const team = randomUUID()
  await pool.query(
    `insert into crux.team (id, name, slug, created_by, updated_by) values ($1, 'T', 't', 'someone', 'someone')`,
    [team],
  )
  const add = (name: string, token: string) =>
    pool.query(
      `insert into crux.registry (id, team_id, name, type, url, "user", token, created_by, updated_by) values ($1, $2, $3, 'v2', 'https://r', 'u', $4, 'someone', 'someone')`,
      [randomUUID(), team, name, token],
    )
  await add('one', createCipher({ key: old }).encrypt('secret one'))
  await add('two', createCipher({ key: current }).encrypt('secret two'))
  await pool.query(
    `insert into crux.storage (team_id, name, url, access_key, secret_key, created_by, updated_by)
     values ($1, 'private', 'https://s3', $2, $3, 's', 's'), ($1, 'public', 'https://s3', null, null, 's', 's')`,
    [team, ...['access', 'secret'].map((text) => createCipher({ key: old }).encrypt(text))],
  )

  expect(await resealAll(opened, createCipher({ key: current, deprecatedKey: old }))).toBe(3)
  const tokens = async () =>
    (await pool.query<{ token: string }>('select token from crux.registry order by name')).rows.map(
      ({ token }) => token,
    )
  const alone = createCipher({ key: current })
  expect((await tokens()).map((token) => alone.decrypt(token))).toEqual(['secret one', 'secret two'])
  const storages = await pool.query<{ a: string; s: string }>(
    'select access_key as a, secret_key as s from crux.storage where access_key is not null',
  )
  expect(storages.rows.map(({ a, s }) => [alone.decrypt(a), alone.decrypt(s)])).toEqual([['access', 'secret']])

  await add('three', createCipher({ key: generateKey() }).encrypt('lost'))
  const before = await tokens()
  await expect(resealAll(opened, createCipher({ key: generateKey(), deprecatedKey: current }))).rejects.toThrow(
    /not configured/,
  )
  expect(await tokens()).toEqual(before)
  await opened.close()
})

test('knows every column whose comment says that it is encrypted', () => {
  const folder = new URL('../db/schema/', import.meta.url)
  const texts = ['teams.ts', 'nodes.ts', 'projects.ts', 'deployments.ts', 'configurations.ts'].map((name) =>
    readFileSync(new URL(name, folder), 'utf8'),
  )
  const encrypted = texts.join('\n').match(/\/\*\*[^*]*\bencrypted\b[^*]*\*\/\s*\w+: text\(/gi) ?? []
  expect(encrypted).toHaveLength(5)
})
