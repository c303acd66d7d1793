import type { ResponseOf } from '@crux/contract'
import { type Registry, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  githubEvent,
  harborCloudEvent,
  harborEvent,
  hubEvent,
  signGithub,
  toDigest,
} from '../../test/kit/hook-payloads.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { deleteOldKeys } from './delivery-store.ts'

type Params = { teamSlug: string; registryId: string }
type Secret = ResponseOf<'registries.create-hook-secret'>
let crux: TestServer
let ada: Someone
let team: TestTeam
let real: Registry
let hubRegistry: TokenRegistry
let serial = 0

beforeAll(async () => {
  real = await startRegistry()
  hubRegistry = await startTokenRegistry(real, { account: null })
  crux = await startTestServer({ config: { hubRegistryUrl: `http://${hubRegistry.host}` } })
  ada = crux.signUp('Ada')
  team = await crux.createTeam(ada)
})
afterAll(async () => {
  await crux.stop()
  await hubRegistry.stop()
  await real.remove()
})

/** A registry of any type, inserted directly, because some types would ask a service that cannot be reached here. */
async function insertRegistry(type: string, imageNamePrefix: string | null, url = 'registry.example.com') {
  const { rows } = await crux.app.database.pool.query<{ id: string }>(
    `insert into crux.registry (team_id, name, type, url, image_name_prefix, created_by, updated_by)
     values ($1, $2, $3, $4, $5, 'test', 'test') returning id`,
    [team.id, `Registry ${++serial}`, type, url, imageNamePrefix],
  )
  return { teamSlug: team.slug, registryId: rows[0]?.id ?? '' }
}
const createSecret = (params: Params, kind: 'github' | 'harbor' | 'hub' | 'v2'): Promise<Secret> =>
  crux.client(ada).call('registries.create-hook-secret', { params: { ...params, kind } })
const listDeliveries = (params: Params) => crux.client(ada).call('registries.list-deliveries', { params })
const post = (url: string, body: unknown, headers: Record<string, string> = {}) =>
  crux.request(url.replace(crux.url, ''), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
function postGithub({ url, secret }: Secret, event: string, body: unknown, delivery: string = crypto.randomUUID()) {
  const text = JSON.stringify(body)
  const headers = { 'x-github-event': event, 'x-github-delivery': delivery }
  return post(url, text, { ...headers, 'x-hub-signature-256': signGithub(secret, text) })
}
/** The repositories of the pushes that the registry reports from now on. */
function listen({ registryId }: Params) {
  const heard: string[] = []
  crux.app.bus.on('registry.pushed', (event) => {
    if (event.registryId === registryId) heard.push(...event.pushes.map(({ repository }) => repository))
  })
  return heard
}

const image = { owner: 'octo-org', name: 'shop/web', tag: 'latest', digest: toDigest('web') }
const artifact = { project: 'library', name: 'debian', tag: '12', digest: toDigest('debian') }

describe('a webhook of GitHub Packages', () => {
  it('reports a pushed tag with its digest, in both events', async () => {
    const params = await insertRegistry('github', 'octo-org', 'ghcr.io')
    const heard = listen(params)
    const secret = await createSecret(params, 'github')
    expect(secret.url).toBe(`${crux.url}/api/${team.slug}/registries/${params.registryId}/hooks/github`)
    expect((await postGithub(secret, 'registry_package', githubEvent('registry_package', image))).status).toBe(204)
    const updated = githubEvent('package', { ...image, owner: 'Octo-Org' }, { action: 'updated', type: 'container' })
    expect((await postGithub(secret, 'package', updated)).status).toBe(204)
    const images = [{ name: 'octo-org/shop/web', tag: 'latest', digest: image.digest }]
    expect(await listDeliveries(params)).toMatchObject([
      { kind: 'github', event: 'package.updated', images, result: 'accepted' },
      { kind: 'github', event: 'registry_package.published', images, result: 'accepted' },
    ])
    await until(() => heard.length === 2)
    expect(heard).toEqual(['octo-org/shop/web', 'octo-org/shop/web'])
  })

  it('is refused without a valid signature of its body, and not listed', async () => {
    const params = await insertRegistry('github', null, 'ghcr.io')
    const secret = await createSecret(params, 'github')
    const text = JSON.stringify(githubEvent('package', image))
    const valid = signGithub(secret.secret, text)
    const elsewhere = await insertRegistry('github', null, 'ghcr.io')
    const withoutSecret = secret.url.replace(params.registryId, elsewhere.registryId)
    const requests: [string, string, Record<string, string>][] = [
      [secret.url, text, {}],
      [secret.url, text, { 'x-hub-signature-256': '' }],
      [secret.url, text, { 'x-hub-signature-256': signGithub('another secret', text) }],
      [secret.url, text, { 'x-hub-signature-256': valid.replace('sha256=', 'sha1=') }],
      [secret.url, text, { 'x-hub-signature-256': valid.slice(0, -1) }],
      [secret.url, `${text} `, { 'x-hub-signature-256': valid }],
      [secret.url, '{', { 'x-hub-signature-256': valid }],
      [secret.url, '', { 'x-hub-signature-256': valid }],
      [withoutSecret, text, { 'x-hub-signature-256': valid }],
    ]
    for (const [url, body, headers] of requests)
      expect((await post(url, body, { 'x-github-event': 'package', ...headers })).status).toBe(401)
    const bodiless = await crux.request(secret.url.replace(crux.url, ''), {
      method: 'POST',
      headers: { 'x-hub-signature-256': valid },
    })
    expect(bodiless.status).toBe(401)
    expect(await listDeliveries(params)).toEqual([])
    const another = await crux.createTeam(ada)
    const signed = { 'x-hub-signature-256': valid, 'x-github-event': 'package' }
    expect((await post(secret.url.replace(team.slug, another.slug), text, signed)).status).toBe(404)
    expect((await post(secret.url, '[]', { 'x-hub-signature-256': signGithub(secret.secret, '[]') })).status).toBe(400)
    expect(await listDeliveries(params)).toEqual([])
  })

  it('lists events that Crux does not know, and ignores those that concern no image of the registry', async () => {
    const params = await insertRegistry('github', 'octo-org', 'ghcr.io')
    const heard = listen(params)
    const secret = await createSecret(params, 'github')
    const npm = githubEvent('package', image, { type: 'npm' })
    const foreign = githubEvent('package', { ...image, owner: 'octo-org-2' })
    const cases: [string, unknown, string, string][] = [
      ['ping', { zen: 'Keep it logically awesome.', hook_id: 1 }, 'ping', 'ignored'],
      ['package', npm, 'package.published', 'ignored'],
      ['package', foreign, 'package.published', 'ignored'],
      ['package', githubEvent('package', image, { action: 'exploded' }), 'package.exploded', 'unknown'],
      ['package', { action: 'published', package: 'web' }, 'package.published', 'unknown'],
      ['push', { ref: 'refs/heads/main' }, 'push', 'unknown'],
    ]
    for (const [event, body] of cases) expect((await postGithub(secret, event, body)).status).toBe(204)
    const listed = (await listDeliveries(params)).map(({ event, result }) => [event, result]).reverse()
    expect(listed).toEqual(cases.map(([, , event, result]) => [event, result]))
    expect(heard).toEqual([])
  })
})

describe('a webhook of Harbor', () => {
  it('reports pushed and deleted tags in both payload formats', async () => {
    const params = await insertRegistry('v2', 'library')
    const heard = listen(params)
    const { url, secret } = await createSecret(params, 'harbor')
    const pushed = harborCloudEvent('harbor.artifact.pushed', artifact, '66e18103-09c1-41f6-982f-37df223f3eeb')
    expect((await post(url, harborEvent('PUSH_ARTIFACT', artifact), { authorization: secret })).status).toBe(204)
    expect((await post(url, pushed, { authorization: `Bearer ${secret}` })).status).toBe(204)
    const deleted = harborEvent('DELETE_ARTIFACT', artifact)
    expect((await post(url, deleted, { authorization: secret })).status).toBe(204)
    const images = [{ name: 'library/debian', tag: '12', digest: artifact.digest }]
    expect(await listDeliveries(params)).toMatchObject([
      { kind: 'harbor', event: 'DELETE_ARTIFACT', images, result: 'accepted' },
      { kind: 'harbor', event: 'harbor.artifact.pushed', images, result: 'accepted' },
      { kind: 'harbor', event: 'PUSH_ARTIFACT', images, result: 'accepted' },
    ])
    await until(() => heard.length === 3)
    expect(new Set(heard)).toEqual(new Set(['library/debian']))
  })

  it('is refused with another secret, and pulls are not listed', async () => {
    const params = await insertRegistry('v2', null)
    const { url, secret } = await createSecret(params, 'harbor')
    const body = harborEvent('PUSH_ARTIFACT', artifact)
    for (const authorization of ['', 'Bearer', secret.slice(0, -1), `${secret}x`, ada.token, 'x'.repeat(4_000)])
      expect((await post(url, body, { authorization })).status).toBe(401)
    expect((await post(url, body)).status).toBe(401)
    expect((await post(url.replace(team.slug, 'nobody'), body, { authorization: secret })).status).toBe(404)
    const pull = await post(url, harborEvent('PULL_ARTIFACT', artifact), { authorization: secret })
    expect(pull.status).toBe(204)
    expect(await listDeliveries(params)).toEqual([])
    await post(url, harborEvent('QUOTA_EXCEED', artifact), { authorization: secret })
    expect(await listDeliveries(params)).toMatchObject([{ event: 'QUOTA_EXCEED', result: 'unknown', images: [] }])
  })

  it('counts repeated payloads once, and a push that returns a tag to an earlier digest again', async () => {
    const params = await insertRegistry('v2', null)
    const heard = listen(params)
    const { url, secret } = await createSecret(params, 'harbor')
    const send = (body: unknown) => post(url, body, { authorization: secret })
    const other = { ...artifact, digest: toDigest('other') }
    for (const body of [harborEvent('PUSH_ARTIFACT', artifact, 1), harborEvent('PUSH_ARTIFACT', other, 2)]) {
      await send(body)
      await send(body)
    }
    await send(harborEvent('PUSH_ARTIFACT', artifact, 3))
    expect(await listDeliveries(params)).toHaveLength(3)
    await until(() => heard.length === 3)
  })
})

describe('a webhook of Docker Hub', () => {
  const hub = async () => insertRegistry('hub', 'person', 'hub.docker.com')

  it('is a hint for which Docker Hub is asked, and its callback is not called', async () => {
    const digest = await real.push('person/app', '1.0', {})
    const params = await hub()
    const heard = listen(params)
    const { url, secret } = await createSecret(params, 'hub')
    expect(url).toBe(`${crux.url}/api/${team.slug}/registries/${params.registryId}/hooks/hub/${secret}`)
    const callback = `http://${hubRegistry.host}/callback`
    expect((await post(url, hubEvent('person/app', '1.0', 1_417_566_161, callback))).status).toBe(204)
    expect((await post(url, hubEvent('person/app', 'forged', 1_417_566_162, callback))).status).toBe(204)
    expect((await post(url, hubEvent('somebody/app', '1.0', 1_417_566_163, callback))).status).toBe(204)
    expect(await listDeliveries(params)).toMatchObject([
      { event: 'push', images: [{ name: 'somebody/app', tag: '1.0' }], result: 'ignored' },
      { event: 'push', images: [{ name: 'person/app', tag: 'forged' }], result: 'ignored' },
      { event: 'push', images: [{ name: 'person/app', tag: '1.0', digest }], result: 'accepted' },
    ])
    await until(() => heard.length === 1)
    const lines = hubRegistry.requests.map(({ line }) => line)
    expect(lines).toEqual(['HEAD /v2/person/app/manifests/1.0', 'HEAD /v2/person/app/manifests/forged'])
  })

  it('is accepted without a digest while Docker Hub does not answer', async () => {
    const params = await hub()
    const { url } = await createSecret(params, 'hub')
    await real.stop()
    expect((await post(url, hubEvent('person/app', '1.0', 1))).status).toBe(204)
    await real.start()
    expect(await listDeliveries(params)).toEqual([
      expect.objectContaining({ images: [{ name: 'person/app', tag: '1.0' }], result: 'accepted' }),
    ])
  })

  it('asks Docker Hub nothing for a repeated delivery', async () => {
    await real.push('person/again', '1.0', {})
    const params = await hub()
    const { url } = await createSecret(params, 'hub')
    const asked = () => hubRegistry.requests.filter(({ line }) => line.includes('/person/again/')).length
    await post(url, hubEvent('person/again', '1.0', 5))
    const once = asked()
    await crux.app.database.pool.query('select pg_sleep(1.1)')
    await post(url, hubEvent('person/again', '1.0', 5))
    expect(asked()).toBe(once)
    expect(await listDeliveries(params)).toHaveLength(1)
  })

  it('is refused with another secret in its address, and lists other shapes as unknown', async () => {
    const params = await hub()
    const { url, secret } = await createSecret(params, 'hub')
    const wrong = `${url.slice(0, -1)}${secret.endsWith('A') ? 'B' : 'A'}`
    for (const address of [wrong, `${url}x`, url.replace(secret, 'x'), url.replace(secret, 'x'.repeat(300))])
      expect((await post(address, hubEvent('person/app', '1.0', 1))).status).toBe(401)
    expect(await listDeliveries(params)).toEqual([])
    expect((await post(url, { hello: 'world' })).status).toBe(204)
    expect(await listDeliveries(params)).toMatchObject([{ event: 'unknown', result: 'unknown', images: [] }])
  })
})

describe('deliveries', () => {
  it('are kept up to the newest hundred, and still recognized when they are no longer listed', async () => {
    const params = await insertRegistry('github', null, 'ghcr.io')
    const secret = await createSecret(params, 'github')
    const first = crypto.randomUUID()
    await postGithub(secret, 'ping', { zen: 'first' }, first)
    for (let index = 0; index < 105; index++) await postGithub(secret, 'ping', { index })
    const listed = await listDeliveries(params)
    expect(listed).toHaveLength(100)
    expect(listed.map(({ id }) => id)).toEqual(
      listed
        .map(({ id }) => id)
        .toSorted()
        .reverse(),
    )
    expect((await postGithub(secret, 'ping', { zen: 'first' }, first)).status).toBe(204)
    expect((await listDeliveries(params))[0]?.id).toBe(listed[0]?.id)
    const count = async (table: string) =>
      (await crux.app.database.pool.query(`select from crux.${table} where registry_id = $1`, [params.registryId]))
        .rowCount
    expect([await count('registry_delivery'), await count('registry_delivery_key')]).toEqual([100, 106])
    await deleteOldKeys(crux.app.database.pool, 7)
    expect(await count('registry_delivery_key')).toBe(106)
    await crux.app.database.pool.query(`update crux.registry_delivery_key set received_at = now() - interval '8 days'`)
    await deleteOldKeys(crux.app.database.pool, 7)
    expect(await count('registry_delivery_key')).toBe(0)
  })
})
