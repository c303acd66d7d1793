import type { HookKind } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { githubEvent, hubEvent, signGithub, toDigest } from '../../test/kit/hook-payloads.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { createCipher, generateKey } from '../crypto/cipher.ts'
import { openServerDatabase } from '../db/open-database.ts'
import { resealAll } from '../reseal-secrets.ts'

const encryption = { key: generateKey(), deprecatedKey: undefined }
let crux: TestServer
let ada: Someone
let team: TestTeam
let serial = 0
beforeAll(async () => {
  crux = await startTestServer({ config: { encryption, trustedProxies: ['127.0.0.1'] } })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
})
afterAll(() => crux.stop())

const query = (text: string, values: unknown[] = []) => crux.app.database.pool.query(text, values)
async function insertRegistry(type: string, url = 'registry.example.com', owner = team) {
  const { rows } = await query(
    `insert into crux.registry (team_id, name, type, url, created_by, updated_by)
     values ($1, $2, $3, $4, 'test', 'test') returning id`,
    [owner.id, `Registry ${++serial}`, type, url],
  )
  return { teamSlug: owner.slug, registryId: String(rows[0].id) }
}
type Params = Awaited<ReturnType<typeof insertRegistry>>
const create = (params: Params, kind: HookKind, as = ada) =>
  crux.client(as).call('registries.create-hook-secret', { params: { ...params, kind } })
const remove = (params: Params, kind: HookKind, as = ada) =>
  crux.client(as).call('registries.delete-hook-secret', { params: { ...params, kind } })
const list = (params: Params, as = ada) => crux.client(as).call('registries.list-hooks', { params })
const body = JSON.stringify(
  githubEvent('package', { owner: 'octo-org', name: 'web', tag: '1', digest: toDigest('web') }),
)
const postGithub = (url: string, secret: string, headers: Record<string, string> = {}) =>
  crux.request(url.replace(crux.url, ''), {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'package',
      'x-hub-signature-256': signGithub(secret, body),
      ...headers,
    },
    body,
  })

describe('the secret of a hook', () => {
  it('is shown once, exists once, and is listed without its text', async () => {
    const params = await insertRegistry('github', 'ghcr.io')
    const made = await create(params, 'github')
    expect(made).toMatchObject({ kind: 'github', createdBy: 'Ada Byron', secret: expect.stringMatching(/^[\w-]{43}$/) })
    expect(await list(params)).toEqual([{ kind: 'github', createdAt: made.createdAt, createdBy: 'Ada Byron' }])
    await expect(create(params, 'github')).rejects.toMatchObject({ status: 409, property: 'kind' })
    expect((await postGithub(made.url, made.secret)).status).toBe(204)
    await remove(params, 'github')
    expect(await list(params)).toEqual([])
    expect((await postGithub(made.url, made.secret)).status).toBe(401)
    await expect(remove(params, 'github')).rejects.toMatchObject({ status: 404, property: 'kind' })
    const next = await create(params, 'github')
    expect((await postGithub(made.url, made.secret)).status).toBe(401)
    expect((await postGithub(made.url, next.secret)).status).toBe(204)
  })

  it('is encrypted where it signs and hashed where it is sent, and never recorded', async () => {
    const [github, harbor, hub] = await Promise.all([
      insertRegistry('github', 'ghcr.io'),
      insertRegistry('v2'),
      insertRegistry('hub', 'hub.docker.com'),
    ])
    const made = [await create(github, 'github'), await create(harbor, 'harbor'), await create(hub, 'hub')]
    const { rows: hooks } = await query('select kind, hash, secret from crux.registry_hook order by kind')
    const { rows: audit } = await query(`select event, data from crux.audit_log where event like 'registry-hook %'`)
    for (const { secret } of made) expect(JSON.stringify([hooks, audit])).not.toContain(secret)
    expect(hooks.find(({ kind }) => kind === 'hub')).toMatchObject({ secret: null, hash: expect.any(String) })
    expect(hooks.find(({ kind }) => kind === 'github')).toMatchObject({ hash: null, secret: expect.any(String) })
    expect(audit).toContainEqual({
      event: 'registry-hook registries.create-hook-secret',
      data: expect.objectContaining({ params: { registryId: hub.registryId, kind: 'hub' } }),
    })
    await remove(hub, 'hub')
    const { rows } = await query(`select from crux.audit_log where event = $1 and accepted`, [
      'registry-hook registries.delete-hook-secret',
    ])
    expect(rows.length).toBeGreaterThan(0)
  })

  it('exists only for the kinds that the type of the registry offers', async () => {
    const offered: [string, string, HookKind[]][] = [
      ['hub', 'hub.docker.com', ['hub']],
      ['github', 'ghcr.io', ['github']],
      ['v2', 'registry.example.com', ['harbor']],
      ['gitlab', 'registry.example.com', ['harbor']],
      ['gitlab', 'registry.gitlab.com', []],
      ['google', 'gcr.io', []],
      ['unchecked', 'registry.example.com', []],
    ]
    for (const [type, url, kinds] of offered) {
      const params = await insertRegistry(type, url)
      for (const kind of ['v2', 'hub', 'github', 'harbor'] as const)
        if (kinds.includes(kind)) expect((await create(params, kind)).kind).toBe(kind)
        else await expect(create(params, kind)).rejects.toMatchObject({ status: 400, property: 'kind' })
    }
  })

  it('is not accepted any more when the type of the registry has changed', async () => {
    const params = await insertRegistry('github', 'ghcr.io')
    const { url, secret } = await create(params, 'github')
    await query(`update crux.registry set type = 'v2' where id = $1`, [params.registryId])
    expect((await postGithub(url, secret)).status).toBe(401)
    await remove(params, 'github')
  })

  it('is managed by admins; users see when it was created and what was delivered', async () => {
    const params = await insertRegistry('github', 'ghcr.io')
    const { url, secret } = await create(params, 'github')
    await postGithub(url, secret)
    const user = await crux.addMember(team, 'user')
    await expect(create(params, 'github', user)).rejects.toMatchObject({ status: 403 })
    await expect(remove(params, 'github', user)).rejects.toMatchObject({ status: 403 })
    expect(await list(params, user)).toHaveLength(1)
    expect(await crux.client(user).call('registries.list-deliveries', { params })).toHaveLength(1)
  })

  it('and the deliveries of another team do not exist for a team', async () => {
    const other = await crux.createTeam(ada)
    const theirs = await insertRegistry('github', 'ghcr.io', other)
    await create(theirs, 'github')
    const foreign = { teamSlug: team.slug, registryId: theirs.registryId }
    const notFound = { status: 404, property: 'registryId' }
    await expect(list(foreign)).rejects.toMatchObject(notFound)
    await expect(create(foreign, 'github')).rejects.toMatchObject(notFound)
    await expect(remove(foreign, 'github')).rejects.toMatchObject(notFound)
    const listing = crux.client(ada).call('registries.list-deliveries', { params: foreign })
    await expect(listing).rejects.toMatchObject(notFound)
    expect(await list(theirs)).toHaveLength(1)
  })

  it('is encrypted again by a rotation of the key, and refused in the row of another hook', async () => {
    const [one, two] = [await insertRegistry('github', 'ghcr.io'), await insertRegistry('github', 'ghcr.io')]
    const [mine, other] = [await create(one, 'github'), await create(two, 'github')]
    const select = `select registry_id, secret from crux.registry_hook where secret is not null order by id`
    const before = await query(select)
    await query(
      `update crux.registry_hook a set secret = b.secret from crux.registry_hook b
       where a.registry_id = any($1::uuid[]) and b.registry_id = any($1::uuid[]) and a.id <> b.id`,
      [[one.registryId, two.registryId]],
    )
    for (const { url, secret } of [mine, other]) expect((await postGithub(url, secret)).status).toBe(401)
    expect((await postGithub(mine.url, other.secret)).status).toBe(401)
    for (const { registryId: id, secret } of before.rows)
      await query('update crux.registry_hook set secret = $2 where registry_id = $1 and secret is not null', [
        id,
        secret,
      ])
    const database = openServerDatabase({ url: crux.database.url })
    const rotated = { key: generateKey(), deprecatedKey: encryption.key }
    expect(await resealAll(database, createCipher(rotated))).toBe(before.rows.length)
    await database.close()
    const after = await startTestServer({
      config: { encryption: { key: rotated.key, deprecatedKey: undefined } },
      database: crux.database,
      people: crux.people,
    })
    const url = mine.url.replace(crux.url, after.url)
    const signed = { 'content-type': 'application/json', 'x-hub-signature-256': signGithub(mine.secret, body) }
    expect((await fetch(url, { method: 'POST', headers: signed, body })).status).toBe(204)
    await after.stop({ database: true })
  })
})

it('guessing the secrets of hooks is refused after a hundred attempts, and a valid delivery from there still counts', async () => {
  const params = await insertRegistry('hub', 'hub.docker.com')
  const { url } = await create(params, 'hub')
  const post = (path: string) =>
    crux.request(path.replace(crux.url, ''), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '192.0.2.7' },
      body: JSON.stringify({ ...hubEvent('octo-org/web', '1', 1), push_data: {} }),
    })
  const statuses: number[] = []
  for (let count = 0; count < 101; count++) statuses.push((await post(`${url}${count}`)).status)
  expect(statuses).toEqual([...Array.from({ length: 100 }, () => 401), 429])
  expect((await post(url)).status).toBe(204)
})
