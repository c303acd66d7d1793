import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dial } from '../../test/kit/dial.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'

let registry: Registry
let crux: TestServer
let ada: Someone
let team: TestTeam
let serial = 0

beforeAll(async () => {
  ;[crux, registry] = await Promise.all([startTestServer(), startRegistry()])
  ada = crux.signUp('Ada')
  team = await crux.createTeam(ada)
})
afterAll(async () => {
  await crux.stop()
  await registry.remove()
})

async function connect(imageNamePrefix?: string) {
  const params = { teamSlug: team.slug }
  const details = { url: registry.url, public: true, imageNamePrefix }
  const { id } = await crux
    .client(ada)
    .call('registries.create', { params, body: { name: `Registry ${++serial}`, type: 'v2', details } })
  return { ...params, registryId: id }
}
const makeToken = (params: { teamSlug: string; registryId: string }) =>
  crux.client(ada).call('registries.create-token', { params, body: { expirationInDays: 90 } })
const event = (repository: string, action = 'push', useragent = 'docker/20') => ({
  id: 'e',
  action,
  target: { repository, tag: '1', url: 'http://registry/v2/x' },
  request: { useragent },
})
const post = (params: { teamSlug: string; registryId: string }, token: string, body: unknown) =>
  crux.request(`/api/${params.teamSlug}/registries/${params.registryId}/hooks/v2`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/vnd.docker.distribution.events.v1+json',
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

describe("a registry's token", () => {
  it('is shown once, exists once, and is listed without its text', async () => {
    const params = await connect()
    const { token, config, ...shown } = await makeToken(params)
    expect(token).toMatch(/^crux_[\w-]{43}$/)
    expect(config).toContain(`Bearer ${token}`)
    expect(config).toContain(`${crux.url}/api/${team.slug}/registries/${params.registryId}/hooks/v2`)
    const { call, request } = crux.client(ada)
    const details = await call('registries.get', { params })
    expect(details.registryToken).toEqual(shown)
    expect(shown.createdBy).toBe(ada.name)
    expect(JSON.stringify(details)).not.toContain(token.slice(5))
    await expect(makeToken(params)).rejects.toMatchObject({ status: 409, property: 'registryId' })
    await call('registries.delete-token', { params })
    expect((await post(params, token, { events: [] })).status).toBe(401)
    await expect(request('registries.delete-token', { params })).rejects.toMatchObject({ status: 404 })
    expect((await makeToken(params)).token).not.toBe(token)
  })

  it('is valid for the hook of its own registry and nothing else', async () => {
    const [mine, other] = [await connect(), await connect()]
    const { token } = await makeToken(mine)
    expect((await post(mine, token, { events: [] })).status).toBe(204)
    expect((await post(other, token, { events: [] })).status).toBe(401)
    const elsewhere = await crux.createTeam(ada)
    expect((await post({ ...mine, teamSlug: elsewhere.slug }, token, { events: [] })).status).toBe(404)
    expect((await crux.request(`/api/${team.slug}/registries`, { as: { ...ada, token } })).status).toBe(401)
    await expect(dial(crux.url, token)).rejects.toThrow('status 401')
    const { token: personal } = await crux
      .client(ada)
      .call('tokens.create', { body: { name: 'Personal', expirationInDays: 0 } })
    for (const wrong of [personal, ada.token, 'nothing', `crux_${'x'.repeat(43)}`])
      expect((await post(mine, wrong, { events: [] })).status).toBe(401)
  })

  it('is checked before a body is read, and bodies are limited', async () => {
    const params = await connect()
    const { token } = await makeToken(params)
    const large = JSON.stringify({ events: [], padding: 'x'.repeat(1_048_577) })
    expect((await post(params, 'nothing', large)).status).toBe(401)
    expect((await post(params, token, large)).status).toBe(413)
    for (const body of ['{', { events: 'none' }, { events: [event('a', 'explode')] }, { events: [{ action: 'push' }] }])
      expect((await post(params, token, body)).status).toBe(400)
  })
})

describe('a page that shows tags', () => {
  it('sees a pushed tag at once by an event of the real registry, without polling', async () => {
    const params = await connect('group')
    const { config } = await makeToken(params)
    await registry.configure(config)
    await registry.push('group/web', '1.0', {})
    await registry.push('group/other', '1.0', {})

    const live = crux.live(ada)
    const channel = live.channel('registries', { teamSlug: team.slug })
    const seen: string[][] = []
    channel.on('registry-image-tags', ({ images }) => {
      for (const image of images) seen.push([image.name, ...image.tags.map((tag) => tag.name).sort()])
    })
    channel.send('fetch-image-tags', { registryId: params.registryId, images: ['web'] })
    await until(() => seen.length > 0)
    expect(seen[0]).toEqual(['web', '1.0'])
    await registry.push('group/other', '2.0', {})
    await registry.push('group/web', '2.0', {})
    await until(() => seen.some((tags) => tags.includes('2.0')), 8_000)
    expect(seen.at(-1)).toEqual(['web', '1.0', '2.0'])
    expect(seen.filter(([name]) => name === 'other')).toEqual([])
    live.close()
  })

  it('is preceded by a delivery of the real registry, with its tag and digest, also for a deletion', async () => {
    const params = await connect('group')
    const { config } = await makeToken(params)
    await registry.configure(config)
    const list = () => crux.client(ada).call('registries.list-deliveries', { params })
    const digest = await registry.push('group/api', '1.0', { labels: { of: 'the delivery' } })
    await registry.push('elsewhere/api', '1.0', {})
    await until(async () => (await list()).some(({ images }) => images[0]?.name === 'elsewhere/api'), 8_000)
    await registry.deleteTag('group/api', '1.0')
    // The registry reports the tag and the manifest as deleted.
    const deletions = async () => (await list()).filter(({ event }) => event === 'delete')
    await until(async () => (await deletions()).length === 2, 8_000)
    const listed = (await list()).map(({ kind, event, images, result }) => ({ kind, event, images, result }))
    expect(listed.slice(2)).toEqual([
      { kind: 'v2', event: 'push', images: [expect.objectContaining({ name: 'elsewhere/api' })], result: 'ignored' },
      { kind: 'v2', event: 'push', images: [{ name: 'group/api', tag: '1.0', digest }], result: 'accepted' },
    ])
    const deleted = listed.slice(0, 2).flatMap(({ images }) => images)
    expect(deleted).toEqual(
      expect.arrayContaining([
        { name: 'group/api', digest },
        { name: 'group/api', tag: '1.0' },
      ]),
    )
    expect(await crux.client(ada).call('registries.list-hooks', { params })).toMatchObject([{ kind: 'v2' }])
  })

  it('gets no update for pulls and our own requests', async () => {
    const params = await connect()
    const { token } = await makeToken(params)
    const heard: string[] = []
    const stop = crux.app.bus.on('registry.pushed', ({ registryId, pushes }) => {
      if (registryId === params.registryId) heard.push(...pushes.map(({ repository }) => repository))
    })
    const events = [event('a', 'pull'), event('b', 'push', 'crux/1.0'), event('c'), event('c'), event('d', 'delete')]
    expect((await post(params, token, { events })).status).toBe(204)
    await until(() => heard.length > 0)
    expect(heard).toEqual(['c', 'd'])
    stop()
  })
})
