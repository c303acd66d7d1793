import { randomUUID } from 'node:crypto'
import type { TestDatabase } from '@crux/postgres'
import { type Column, getTableColumns, getTableName, is } from 'drizzle-orm'
import { PgCustomColumn, PgTable } from 'drizzle-orm/pg-core'
import { PgBoss } from 'pg-boss'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serverDatabase } from '../test/kit/index.ts'
import { createCipher, generateKey } from './crypto/cipher.ts'
import { openServerDatabase } from './db/open-database.ts'
import * as schema from './db/schema/index.ts'
import { resealAll, sealedColumns } from './reseal-secrets.ts'
import { type InvitationMailJob, invitationMailJob, invitationSecret } from './teams/invitation-mail.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await serverDatabase()
})
afterAll(() => database.drop())

test('a rotation encrypts every stored credential, also in queued mails, with the new key, and changes nothing when one cannot be decrypted', async () => {
  const [old, current] = [generateKey(), generateKey()]
  const opened = openServerDatabase({ url: database.url })
  const { pool } = opened
  const [team, storage] = [randomUUID(), randomUUID()]
  await pool.query(
    `insert into crux.team (id, name, slug, created_by, updated_by) values ($1, 'T', 't', 'someone', 'someone')`,
    [team],
  )
  const add = (name: string, key: string, secret: string) => {
    const id = randomUUID()
    return pool.query(
      `insert into crux.registry (id, team_id, name, type, url, "user", token, created_by, updated_by) values ($1, $2, $3, 'v2', 'https://r', 'u', $4, 'someone', 'someone')`,
      [id, team, name, createCipher({ key }).encrypt(secret, { column: 'registry.token', row: id })],
    )
  }
  await add('one', old, 'secret one')
  await add('two', current, 'secret two')
  await pool.query(
    `insert into crux.storage (id, team_id, name, url, access_key, secret_key, created_by, updated_by)
     values ($4, $1, 'private', 'https://s3', $2, $3, 's', 's'), ($5, $1, 'public', 'https://s3', null, null, 's', 's')`,
    [
      team,
      createCipher({ key: old }).encrypt('access', { column: 'storage.access_key', row: storage }),
      createCipher({ key: old }).encrypt('secret', { column: 'storage.secret_key', row: storage }),
      storage,
      randomUUID(),
    ],
  )

  const notification = randomUUID()
  await pool.query(
    `insert into crux.notification (id, team_id, name, type, url, secret, created_by, updated_by)
     values ($1, $2, 'Hook', 'webhook', $3, $4, 's', 's')`,
    [
      notification,
      team,
      createCipher({ key: old }).encrypt('https://hook', { column: 'notification.url', row: notification }),
      createCipher({ key: old }).encrypt('signature', { column: 'notification.secret', row: notification }),
    ],
  )
  const pipeline = randomUUID()
  const sealForPipeline = (column: 'pipeline.token' | 'pipeline_hook.secret', secret: string) =>
    createCipher({ key: old }).encrypt(secret, { column, row: pipeline })
  await pool.query(
    `insert into crux.pipeline (id, team_id, name, type, organization, project, trigger_name, token, created_by, updated_by)
     values ($1, $2, 'P', 'azure', 'o', 'p', 't', $3, 's', 's')`,
    [pipeline, team, sealForPipeline('pipeline.token', 'access to the pipeline')],
  )
  await pool.query('insert into crux.pipeline_hook (pipeline_id, secret) values ($1, $2)', [
    pipeline,
    sealForPipeline('pipeline_hook.secret', 'secret of the hook'),
  ])

  const boss = new PgBoss({ connectionString: database.url, schema: 'jobs', max: 1 })
  await boss.start()
  await boss.createQueue(invitationMailJob)
  const invitation = { teamId: team, userId: randomUUID(), secretHash: 'hash' }
  const sealedForMail = createCipher({ key: old }).encrypt('invitation', invitationSecret(invitation))
  const jobId = await boss.send(invitationMailJob, { ...invitation, secret: sealedForMail })
  await boss.stop({ graceful: false })

  expect(await resealAll(opened, createCipher({ key: current, deprecatedKey: old }))).toBe(8)
  const tokens = async () =>
    (await pool.query<{ id: string; token: string }>('select id, token from crux.registry order by name')).rows
  const alone = createCipher({ key: current })
  expect((await tokens()).map(({ id, token }) => alone.decrypt(token, { column: 'registry.token', row: id }))).toEqual([
    'secret one',
    'secret two',
  ])
  const storages = await pool.query<{ a: string; s: string }>(
    'select access_key as a, secret_key as s from crux.storage where access_key is not null',
  )
  expect(
    storages.rows.map(({ a, s }) => [
      alone.decrypt(a, { column: 'storage.access_key', row: storage }),
      alone.decrypt(s, { column: 'storage.secret_key', row: storage }),
    ]),
  ).toEqual([['access', 'secret']])

  const notifications = await pool.query<{ u: string; s: string }>(
    'select url as u, secret as s from crux.notification',
  )
  expect(
    notifications.rows.map(({ u, s }) => [
      alone.decrypt(u, { column: 'notification.url', row: notification }),
      alone.decrypt(s, { column: 'notification.secret', row: notification }),
    ]),
  ).toEqual([['https://hook', 'signature']])
  const pipelines = await pool.query<{ token: string; secret: string }>(
    'select p.token, h.secret from crux.pipeline p join crux.pipeline_hook h on h.pipeline_id = p.id',
  )
  expect(
    pipelines.rows.map(({ token, secret }) => [
      alone.decrypt(token, { column: 'pipeline.token', row: pipeline }),
      alone.decrypt(secret, { column: 'pipeline_hook.secret', row: pipeline }),
    ]),
  ).toEqual([['access to the pipeline', 'secret of the hook']])

  const jobs = await pool.query<{ data: InvitationMailJob }>('select data from jobs.job where id = $1', [jobId])
  expect(jobs.rows.map(({ data }) => alone.decrypt(data.secret, invitationSecret(data)))).toEqual(['invitation'])

  await add('three', generateKey(), 'lost')
  const before = await tokens()
  await expect(resealAll(opened, createCipher({ key: generateKey(), deprecatedKey: current }))).rejects.toThrow(
    /not configured/,
  )
  expect(await tokens()).toEqual(before)
  await opened.close()
})

test('the rotation covers every column that the schema declares as encrypted', () => {
  const declared = Object.values(schema)
    .filter((table) => is(table, PgTable))
    .flatMap((table) => Object.values(getTableColumns(table)))
    .filter((column) => is(column, PgCustomColumn))
  const getName = (column: Column) => `${getTableName(column.table)}.${column.name}`
  expect(sealedColumns.map(({ column }) => getName(column)).sort()).toEqual(declared.map(getName).sort())
  expect(declared).toHaveLength(11)
})
