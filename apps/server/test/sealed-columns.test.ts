import { randomUUID } from 'node:crypto'
import { type Registry, registryAccount, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCipher, generateKey } from '../src/crypto/cipher.ts'
import { openServerDatabase } from '../src/db/open-database.ts'
import { nextToken } from '../src/gateway/token-store.ts'
import { resealAll } from '../src/reseal-secrets.ts'
import { startTestServer, type TestServer, type TestTeam } from './kit/index.ts'

/** An attacker can write to the database but has no key: each test swaps the values of two rows. */
const encryption = { key: generateKey(), deprecatedKey: undefined }
let crux: TestServer
let registry: Registry
let teams: [TestTeam, TestTeam]
beforeAll(async () => {
  registry = await startRegistry({ auth: true })
  crux = await startTestServer({ config: { encryption } })
  const ada = crux.signUp('Ada')
  call = crux.client(ada).call
  teams = [await crux.createTeam(ada), await crux.createTeam(ada)]
})
afterAll(async () => {
  await crux.stop()
  await registry.stop()
})

const query = (text: string, values: unknown[]) => crux.app.database.pool.query(text, values)
let call: ReturnType<TestServer['client']>['call']
/** Each of the two rows gets the other's value. */
const swap = (table: string, key: string, column: string, ids: readonly [string, string]) =>
  query(
    `update crux.${table} a set ${column} = b.${column} from crux.${table} b
      where a.${key} = any($1::uuid[]) and b.${key} = any($1::uuid[]) and a.${key} <> b.${key}`,
    [ids],
  )

it('decryption refuses the credential of another registry', async () => {
  const connect = async (team: TestTeam) => {
    const body = {
      name: 'Guarded',
      type: 'v2' as const,
      details: { url: `http://${registry.host}`, public: false, ...registryAccount },
    }
    return (await call('registries.create', { params: { teamSlug: team.slug }, body })).id
  }
  const ids = [await connect(teams[0]), await connect(teams[1])] as const
  const rename = (index: 0 | 1) =>
    call('registries.update', {
      params: { teamSlug: teams[index].slug, registryId: ids[index] },
      body: { name: 'Renamed', type: 'v2', details: { url: `http://${registry.host}`, public: false } },
    })
  await rename(0)
  await swap('registry', 'id', 'token', ids)
  for (const index of [0, 1] as const)
    await expect(rename(index)).rejects.toMatchObject({ status: 412, property: 'registryId' })
})

it('decryption refuses the token of another pipeline, and its requests are not made', async () => {
  const insert = async (team: TestTeam) => {
    const id = randomUUID()
    const token = crux.app.cipher.encrypt('token', { column: 'pipeline.token', row: id })
    await query(
      `insert into crux.pipeline (id, team_id, name, type, organization, project, trigger_name, token, created_by, updated_by)
       values ($1, $2, 'Deploy', 'azure', 'o', 'p', 't', $3, 's', 's')`,
      [id, team.id, token],
    )
    return id
  }
  const ids = [await insert(teams[0]), await insert(teams[1])] as const
  await swap('pipeline', 'id', 'token', ids)
  for (const index of [0, 1] as const) {
    const params = { teamSlug: teams[index].slug, pipelineId: ids[index] }
    await expect(call('pipelines.trigger', { params, body: {} })).rejects.toMatchObject({
      status: 412,
      property: 'token',
    })
  }
})

it('decryption refuses the keys of another storage, and the two swapped keys of one', async () => {
  const connect = async (team: TestTeam) =>
    (
      await call('storages.create', {
        params: { teamSlug: team.slug },
        body: { name: 'Files', url: 'http://127.0.0.1:9', accessKey: 'access', secretKey: 'secret' },
      })
    ).id
  const ids = [await connect(teams[0]), await connect(teams[1])] as const
  const check = (index: 0 | 1) =>
    call('storages.check', { params: { teamSlug: teams[index].slug, storageId: ids[index] } })
  expect(await check(0)).toMatchObject({ reachable: false })
  await swap('storage', 'id', 'secret_key', ids)
  for (const index of [0, 1] as const) await expect(check(index)).rejects.toMatchObject({ status: 412 })
  await swap('storage', 'id', 'secret_key', ids)
  await query('update crux.storage set access_key = secret_key, secret_key = access_key where id = $1', [ids[0]])
  await expect(check(0)).rejects.toMatchObject({ status: 412 })
  expect(await check(1)).toMatchObject({ reachable: false })
})

it('decryption refuses the install token and the next connection token of another node', async () => {
  const create = async (team: TestTeam) => {
    const params = { teamSlug: team.slug }
    const { id } = await call('nodes.create', { params, body: { name: 'Machine' } })
    await call('nodes.create-script', {
      params: { ...params, nodeId: id },
      body: { type: 'docker', scriptType: 'shell' },
    })
    await query(`insert into crux.node_token (node_id, hash, exchanged_by, created_by) values ($1, $2, 'a', 'b')`, [
      id,
      `hash of ${id}`,
    ])
    await nextToken(crux.app, id)
    return id
  }
  const ids = [await create(teams[0]), await create(teams[1])] as const
  await swap('node_install', 'node_id', 'token', ids)
  await swap('node_token', 'node_id', 'next_token', ids)
  for (const index of [0, 1] as const) {
    const params = { teamSlug: teams[index].slug, nodeId: ids[index] }
    await expect(call('nodes.get', { params })).rejects.toMatchObject({ status: 412, property: 'installer' })
    await expect(nextToken(crux.app, ids[index])).rejects.toThrow()
  }
})

it('a rotation encrypts nothing with another key while rows contain values of other rows', async () => {
  const { rows } = await query('select id, token from crux.registry where token is not null order by id', [])
  const database = openServerDatabase({ url: crux.database.url })
  const rotating = createCipher({ key: generateKey(), deprecatedKey: encryption.key })
  await expect(resealAll(database, rotating)).rejects.toThrow()
  await database.close()
  const after = await query('select id, token from crux.registry where token is not null order by id', [])
  expect(after.rows).toEqual(rows)
})
