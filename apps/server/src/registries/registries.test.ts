import type { BodyInput } from '@crux/contract'
import { type Registry, registryAccount, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hubAccount, startHub } from '../../test/kit/hub.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { askRegistry } from '../../test/kit/registry-channel.ts'

type Write = BodyInput<'registries.create'>
let hub: Awaited<ReturnType<typeof startHub>>
let open: Registry
let guarded: Registry
let tokens: TokenRegistry
let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  hub = await startHub()
  ;[crux, open, guarded] = await Promise.all([
    startTestServer({ config: { hubUrl: hub.url } }),
    startRegistry(),
    startRegistry({ auth: true }),
  ])
  tokens = await startTokenRegistry(open)
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
  await open.push('group/web', '1.0', { created: '2026-03-04T05:06:07Z', labels: { 'org.example.team': 'blue' } })
  await open.push('group/web', '2.0', { created: '2026-01-02T03:04:05Z' })
  await open.push('other/db', 'latest', {})
  await guarded.push('private/app', '7', {})
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([tokens.stop(), hub.stop()])
  await Promise.all([open.remove(), guarded.remove()])
})

const call = () => crux.client(ada).call
const v2 = (
  url: string,
  more: Partial<Extract<Write, { type: 'v2' }>['details']> = {},
  name = `Registry ${Math.random()}`,
): Write => ({
  name,
  type: 'v2',
  details: { url, public: true, ...more },
})
const create = (body: Write) => call()('registries.create', { params: { teamSlug: team.slug }, body })
const names = async () =>
  (await call()('registries.list', { params: { teamSlug: team.slug } })).map((entry) => entry.name)

const ask = (type: 'find-image' | 'fetch-image-tags', data: object) => askRegistry(crux, ada, team, type, data)

const described = {
  digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
  size: expect.any(Number),
  platforms: [expect.stringMatching(/^linux\//)],
}

describe('a registry of the distribution specification', () => {
  it('is created without https on loopback, and shows its images, tags and dates', async () => {
    const registry = await create(v2(open.host, { imageNamePrefix: 'group' }))
    expect(registry).toMatchObject({ type: 'v2', url: open.host, imageUrlPrefix: `${open.host}/group`, inUse: false })
    expect(registry.details).toMatchObject({ hasCredentials: false, public: true })
    expect(await ask('find-image', { registryId: registry.id, filter: 'WE' })).toEqual({
      registryId: registry.id,
      filter: 'WE',
      images: [{ id: '', name: 'web', tags: 0 }],
    })
    expect(await ask('fetch-image-tags', { registryId: registry.id, images: ['web'] })).toEqual({
      registryId: registry.id,
      images: [
        {
          name: 'web',
          tags: [
            { name: '1.0', created: '2026-03-04T05:06:07.000Z', ...described },
            { name: '2.0', created: '2026-01-02T03:04:05.000Z', ...described },
          ],
        },
      ],
    })
  })

  it('with basic credentials receives them, and no response shows them', async () => {
    const body = v2(guarded.host, { public: false, ...registryAccount })
    const registry = await create(body)
    expect(registry.details).toMatchObject({ user: registryAccount.user, hasCredentials: true })
    const { call } = crux.client(ada)
    const params = { teamSlug: team.slug, registryId: registry.id }
    const shown = JSON.stringify([await call('registries.get', { params }), await call('registries.list', { params })])
    expect(shown).not.toContain(registryAccount.token)
    const { rows } = await crux.app.database.pool.query('select token from crux.registry where id = $1', [registry.id])
    expect(rows[0].token).not.toContain(registryAccount.token)
    expect(crux.app.cipher.decrypt(rows[0].token, { column: 'registry.token', row: registry.id })).toBe(
      registryAccount.token,
    )
    const { rows: audit } = await crux.app.database.pool.query(
      `select data from crux.audit_log where event like 'registry %'`,
    )
    expect(JSON.stringify(audit)).not.toContain(registryAccount.token)
    expect(await ask('fetch-image-tags', { registryId: registry.id, images: ['private/app'] })).toMatchObject({
      images: [{ name: 'private/app', tags: [{ name: '7' }] }],
    })
  })

  it('refuses wrong credentials and stores nothing', async () => {
    const before = await names()
    await expect(
      create(v2(guarded.host, { public: false, user: registryAccount.user, token: 'wrong' })),
    ).rejects.toMatchObject({
      status: 401,
      error: 'registryUnauthorized',
      property: 'token',
    })
    await expect(create(v2(guarded.host))).rejects.toMatchObject({ status: 401, property: 'user' })
    await expect(create(v2(guarded.host, { public: false }))).rejects.toMatchObject({
      status: 400,
      error: 'missingParameter',
    })
    expect(await names()).toEqual(before)
  })

  it('authenticates by token, with the scope of the request', async () => {
    const registry = await create(v2(tokens.host, { public: false, ...registryAccount }))
    await ask('find-image', { registryId: registry.id, filter: 'db' })
    expect(await ask('fetch-image-tags', { registryId: registry.id, images: ['other/db'] })).toMatchObject({
      images: [{ name: 'other/db', tags: [{ name: 'latest' }] }],
    })
    expect(tokens.realmCalls.map((entry) => entry.scope)).toEqual(
      expect.arrayContaining(['registry:catalog:*', 'repository:other/db:pull']),
    )
    await expect(
      create(v2(tokens.host, { public: false, user: registryAccount.user, token: 'wrong' })),
    ).rejects.toMatchObject({
      status: 401,
      error: 'registryUnauthorized',
    })
  })

  it('does not get credentials sent to another site', async () => {
    const hostile = await startTokenRegistry(open, { realm: 'https://collector.example.com/token' })
    await expect(create(v2(hostile.host, { public: false, ...registryAccount }))).rejects.toMatchObject({
      status: 400,
      property: 'url',
      description: expect.stringContaining('collector.example.com'),
    })
    await hostile.stop()
  })

  it.each([
    ['localhost:1', 'Could not reach the registry: localhost:1 cannot be reached (connection refused).'],
    ['no-such-host.invalid', 'Could not reach the registry: the name no-such-host.invalid cannot be resolved.'],
    ['169.254.169.254', 'Could not reach the registry: 169.254.169.254 is not an address that may be contacted.'],
  ])('at the unresponsive address %s is refused, and nothing is stored', async (url, why) => {
    const before = await names()
    await expect(create(v2(url))).rejects.toMatchObject({
      status: 400,
      property: 'url',
      description: why,
    })
    expect(await names()).toEqual(before)
  })

  it('is refused for our own ports and pages that are no registry', async () => {
    await expect(create(v2(new URL(crux.url).host))).rejects.toMatchObject({ status: 400, property: 'url' })
    await expect(create(v2(hub.url))).rejects.toMatchObject({
      status: 400,
      property: 'url',
      description: expect.stringContaining('registry'),
    })
  })

  it('reports over the live channel that it is down', async () => {
    const passing = await startTokenRegistry(open)
    const registry = await create(v2(passing.host, { public: false, ...registryAccount }))
    await passing.stop()
    expect(await ask('find-image', { registryId: registry.id, filter: 'x' })).toMatchObject({
      description: expect.stringContaining('cannot be reached'),
      path: `/${team.slug}/registries`,
    })
  })
})

describe('a stored registry', () => {
  const params = (registryId: string) => ({ teamSlug: team.slug, registryId })

  it('keeps credentials that are not sent, and deletes them when it becomes public', async () => {
    const registry = await create(v2(guarded.host, { public: false, ...registryAccount }))
    const update = (body: Write) => call()('registries.update', { params: params(registry.id), body })
    await update({ ...v2(guarded.host, { public: false }, 'Renamed'), description: 'ours' })
    const renamed = await call()('registries.get', { params: params(registry.id) })
    expect(renamed).toMatchObject({
      name: 'Renamed',
      description: 'ours',
      details: { user: registryAccount.user, hasCredentials: true },
    })
    await update(v2(open.host, { public: true }, 'Renamed'))
    const opened = await call()('registries.get', { params: params(registry.id) })
    expect(opened.details).toMatchObject({ user: null, hasCredentials: false, url: open.host })
  })

  it('does not send a stored credential to a new address', async () => {
    const registry = await create(v2(guarded.host, { public: false, ...registryAccount }))
    const before = tokens.realmCalls.length
    await expect(
      call()('registries.update', { params: params(registry.id), body: v2(tokens.host, { public: false }) }),
    ).rejects.toMatchObject({ status: 400, error: 'missingParameter', property: 'user' })
    expect(tokens.realmCalls).toHaveLength(before)
  })

  it('is not deleted while an image uses it', async () => {
    const registry = await create(v2(open.host, {}, 'In use'))
    const { call } = crux.client(ada)
    const project = await call('projects.create', {
      params: params(''),
      body: { name: 'Uses it', type: 'versionless' },
    })
    const { versions } = await call('projects.get', { params: { ...params(''), projectId: project.id } })
    const path = { teamSlug: team.slug, projectId: project.id, versionId: versions[0]?.id ?? '' }
    const [image] = await call('images.create', {
      params: path,
      body: [{ registryId: registry.id, images: ['group/web:1.0'] }],
    })
    expect(image?.labels).toEqual({ 'org.example.team': 'blue' })
    expect((await call('registries.get', { params: params(registry.id) })).inUse).toBe(true)
    await expect(call('registries.delete', { params: params(registry.id) })).rejects.toMatchObject({
      status: 412,
      property: 'id',
    })
    await call('images.delete', { params: { ...path, imageId: image?.id ?? '' } })
    await call('registries.delete', { params: params(registry.id) })
    await expect(call('registries.get', { params: params(registry.id) })).rejects.toMatchObject({ status: 404 })
  })
})

describe('Docker Hub', () => {
  const hubbed = (imageNamePrefix: string, more: object = {}): Write => ({
    name: `Hub ${Math.random()}`,
    type: 'hub',
    details: { imageNamePrefix, public: true, ...more },
  })

  it('lists every page of an organisation, and the tags of an image', async () => {
    const registry = await create(hubbed('crux'))
    expect(registry).toMatchObject({ url: 'hub.docker.com', imageUrlPrefix: 'hub.docker.com/crux' })
    expect(await ask('find-image', { registryId: registry.id, filter: 'image-129' })).toMatchObject({
      images: [{ name: 'image-129' }],
    })
    expect(await ask('fetch-image-tags', { registryId: registry.id, images: ['image-1'] })).toMatchObject({
      images: [
        {
          tags: [
            {
              name: 'latest',
              created: '2026-05-06T07:08:09.123Z',
              digest: `sha256:${'a'.repeat(64)}`,
              size: 4711,
              platforms: ['linux/amd64', 'linux/arm/v7'],
            },
            { name: '1.0', created: null },
          ],
        },
      ],
    })
  })

  it('shows private images with valid credentials, and refuses invalid ones', async () => {
    const registry = await create(hubbed('person', { public: false, ...hubAccount }))
    expect(await ask('find-image', { registryId: registry.id, filter: 'secret' })).toMatchObject({
      images: [{ name: 'secret-app' }],
    })
    await expect(create(hubbed('person', { public: false, user: hubAccount.user, token: 'no' }))).rejects.toMatchObject(
      {
        status: 401,
        error: 'registryUnauthorized',
      },
    )
  })

  it('reports an unknown name, and its own rate limit', async () => {
    await expect(create(hubbed('nobody'))).rejects.toMatchObject({ status: 404, property: 'imageNamePrefix' })
    hub.beBusy(1)
    await expect(create(hubbed('crux'))).rejects.toMatchObject({ status: 400, error: 'registryRateLimit' })
  })
})

describe('an unchecked registry', () => {
  it('is stored without a request to it, and accepts names with a host and a port', async () => {
    const registry = await create({ name: 'Elsewhere', type: 'unchecked', details: { url: 'registry.invalid:5000' } })
    expect(registry).toMatchObject({ url: 'registry.invalid:5000', details: { hasCredentials: false } })
    expect(await ask('find-image', { registryId: registry.id, filter: 'x' })).toMatchObject({
      status: 400,
      property: 'registryId',
    })
    const local = await create({ name: 'Local', type: 'unchecked', details: { local: true } })
    expect(local).toMatchObject({ url: '', imageUrlPrefix: '', details: { local: true } })
  })
})

it('of another team is not searched, and looks like one that does not exist', async () => {
  const stranger = crux.signUp()
  const theirs = await crux.createTeam(stranger)
  const [foreign] = await crux.client(stranger).call('registries.list', { params: { teamSlug: theirs.slug } })
  const refused = { status: 404, error: 'notFound', property: 'registryId' }
  expect(await ask('find-image', { registryId: foreign?.id, filter: 'x' })).toMatchObject(refused)
  expect(await ask('fetch-image-tags', { registryId: foreign?.id, images: ['x'] })).toMatchObject(refused)
})
