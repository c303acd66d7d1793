import type { BodyInput } from '@crux/contract'
import { type Registry, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gitlabAccount, startGitlab } from '../../test/kit/gitlab.ts'
import { startHub } from '../../test/kit/hub.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { askRegistry } from '../../test/kit/registry-channel.ts'

type Details = { tags: { name: string; created?: string | null; digest?: string }[] }

/** More tags than are described in a list. */
const tagCount = 40
const image = 'company/shop/web'
let real: Registry
let gitlab: Awaited<ReturnType<typeof startGitlab>>
let gitlabRegistry: TokenRegistry
let hub: Awaited<ReturnType<typeof startHub>>
let proxy: TokenRegistry
let isLimited = false
let crux: TestServer
let ada: Someone
let team: TestTeam
const digests = new Map<string, string>()

beforeAll(async () => {
  ;[real, gitlab, hub] = await Promise.all([startRegistry(), startGitlab([image]), startHub()])
  for (let index = 0; index < tagCount; index++)
    digests.set(`v${index}`, await real.push(image, `v${index}`, { created: toCreated(index) }))
  ;[gitlabRegistry, proxy] = await Promise.all([
    startTokenRegistry(real, { account: gitlabAccount }),
    startTokenRegistry(real, {
      account: null,
      answer(incoming, outgoing) {
        if (!isLimited || !incoming.url?.includes('/manifests/')) return false
        outgoing.writeHead(429, { 'retry-after': '300' }).end()
        return true
      },
    }),
  ])
  const config = {
    gitlabUrl: gitlab.url,
    gitlabRegistryUrl: `http://${gitlabRegistry.host}`,
    hubUrl: hub.url,
    hubRegistryUrl: `http://${proxy.host}`,
  }
  crux = await startTestServer({ config })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([gitlab.stop(), gitlabRegistry.stop(), hub.stop(), proxy.stop(), real.remove()])
})

const toCreated = (index: number) => new Date(Date.UTC(2026, 0, 1 + index)).toISOString()

async function create(type: 'v2' | 'gitlab' | 'hub', details: object): Promise<string> {
  const body = { name: `Registry ${Math.random()}`, type, details } as BodyInput<'registries.create'>
  const { id } = await crux.client(ada).call('registries.create', { params: { teamSlug: team.slug }, body })
  return id
}
const createV2 = () => create('v2', { url: proxy.host, public: true })

const list = (registryId: string) =>
  askRegistry(crux, ada, team, 'fetch-image-tags', { registryId, images: [image] }) as Promise<{ images: Details[] }>
const ask = (registryId: string, tags: string[], name = image) =>
  askRegistry(crux, ada, team, 'fetch-tag-details', { registryId, image: name, tags }) as Promise<Details>
const described = (tag: string) => ({
  name: tag,
  created: toCreated(Number(tag.slice(1))),
  digest: digests.get(tag),
  size: expect.any(Number),
  platforms: [expect.stringMatching(/^linux\//)],
})
const countManifests = ({ requests }: TokenRegistry, from = 0) =>
  requests.slice(from).filter(({ line }) => line.includes('/manifests/')).length

describe('the details of tags', () => {
  it.each([
    ['v2', createV2],
    ['gitlab', () => create('gitlab', { imageNamePrefix: 'company/shop', namespace: 'project', ...gitlabAccount })],
  ])('of a long list are read for the requested tags of a registry of type %s', async (_, open) => {
    const id = await open()
    const { images } = await list(id)
    expect(images[0]?.tags).toHaveLength(tagCount)
    expect(images[0]?.tags.every(({ created, digest }) => created === null && digest === undefined)).toBe(true)
    const wanted = ['v39', 'v3', 'v21']
    expect(await ask(id, wanted)).toEqual({ registryId: id, image, tags: wanted.map(described) })
  })

  it('are read once, and again after a push of the image', async () => {
    const id = await createV2()
    await ask(id, ['v1', 'v2'])
    const before = proxy.requests.length
    expect((await ask(id, ['v1', 'v2'])).tags).toMatchObject([described('v1'), described('v2')])
    expect(countManifests(proxy, before)).toBe(0)
    const digest = await real.push(image, 'moved', { labels: { nth: 'first' } })
    expect((await ask(id, ['moved'])).tags).toMatchObject([{ digest }])
    const next = await real.push(image, 'moved', { labels: { nth: 'second' } })
    crux.app.bus.publish({ type: 'registry.pushed', registryId: id, pushes: [{ repository: image }] })
    await until(async () => (await ask(id, ['moved'])).tags[0]?.digest === next)
    await real.deleteTag(image, 'moved')
  })

  it('of a tag that does not exist are its name, beside those of others', async () => {
    const id = await createV2()
    expect((await ask(id, ['none', 'v5'])).tags).toEqual([{ name: 'none' }, described('v5')])
    expect((await ask(id, ['latest'], 'company/none')).tags).toEqual([{ name: 'latest' }])
  })

  it('are reported as limited with the time that is left, and no further request is sent', async () => {
    const id = await createV2()
    isLimited = true
    const before = proxy.requests.length
    const refusal = { error: 'registryRateLimit', description: expect.stringContaining('Try again in 5 minutes.') }
    expect(await ask(id, Array.from(digests.keys()))).toMatchObject(refusal)
    // Those that had been sent at the same time.
    expect(countManifests(proxy, before)).toBeLessThanOrEqual(5)
    isLimited = false
    expect(await ask(id, ['v0'])).toMatchObject({ error: 'registryRateLimit' })
    expect(countManifests(proxy, before)).toBeLessThanOrEqual(5)
  })

  it('of Docker Hub cost no request, because its list has them', async () => {
    const id = await create('hub', { imageNamePrefix: 'crux', public: true })
    const before = proxy.requests.length
    expect((await ask(id, ['latest'], 'image-1')).tags).toEqual([{ name: 'latest' }])
    expect(proxy.requests).toHaveLength(before)
  })

  it.each([
    ['more than 50 tags', { tags: Array.from({ length: 51 }, (_, index) => `v${index}`) }],
    ['a tag that leads to another path', { tags: ['../../other'] }],
    ['an image that leads to another path', { image: '../other' }],
    ['no tag', { tags: [] }],
  ])('are refused for %s', async (_, more) => {
    const data = { registryId: await createV2(), image, tags: ['v1'], ...more }
    expect(await askRegistry(crux, ada, team, 'fetch-tag-details', data)).toMatchObject({ status: 400 })
  })

  it('are not read with the credential of another team', async () => {
    const registryId = await createV2()
    const stranger = crux.signUp()
    const theirs = await crux.createTeam(stranger)
    const data = { registryId, image, tags: ['v1'] }
    expect(await askRegistry(crux, stranger, theirs, 'fetch-tag-details', data)).toMatchObject({
      status: 404,
      property: 'registryId',
    })
  })
})
