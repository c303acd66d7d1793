import type { BodyInput, ResponseOf } from '@crux/contract'
import { type Registry, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { githubAccount, githubNarrowToken, startGithub } from '../../test/kit/github.ts'
import { gitlabAccount, startGitlab } from '../../test/kit/gitlab.ts'
import { foreignKey, serviceAccount, startGoogle } from '../../test/kit/google.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'
import { askRegistry } from '../../test/kit/registry-channel.ts'
import { readDigest } from './index.ts'

type Write = BodyInput<'registries.create'>
type Details<T extends Write['type']> = Partial<Extract<Write, { type: T }>['details']>

const many = Array.from({ length: 230 }, (_, index) => `image-${String(index).padStart(3, '0')}`)
let real: Registry
let gitlab: Awaited<ReturnType<typeof startGitlab>>
let gitlabRegistry: TokenRegistry
let github: Awaited<ReturnType<typeof startGithub>>
let githubRegistry: TokenRegistry
let google: Awaited<ReturnType<typeof startGoogle>>
let crux: TestServer
let ada: Someone
let team: TestTeam
let digest: string

beforeAll(async () => {
  real = await startRegistry()
  digest = await real.push('company/shop/web', '1.0', { labels: { team: 'blue' } })
  await real.push('company/shop/web', '2.0', { created: '2026-03-04T05:06:07Z' })
  const manifest = { [digest]: { tag: ['1.0'], timeCreatedMs: '1767323045000', imageSizeBytes: '4711' } }
  ;[gitlab, gitlabRegistry, github, githubRegistry, google] = await Promise.all([
    startGitlab([...many.map((name) => `company/shop/${name}`), 'company/shop/web', 'company/other']),
    startTokenRegistry(real, { account: gitlabAccount }),
    startGithub({
      packages: [...many, 'shop/web'],
      versions: { 'shop/web': [{ digest, tags: ['1.0'], createdAt: '2026-01-02T03:04:05Z' }] },
    }),
    startTokenRegistry(real, { account: githubAccount }),
    startGoogle(real, {
      company: { child: ['shop', 'tools'] },
      'company/shop': { child: ['web'] },
      'company/shop/web': { manifest, tags: ['1.0'] },
      'company/tools': { manifest: { 'sha256:1': { tag: ['a'], timeCreatedMs: '-62135596800000' } } },
    }),
  ])
  crux = await startTestServer({
    config: {
      gitlabUrl: gitlab.url,
      gitlabRegistryUrl: `http://${gitlabRegistry.host}`,
      githubApiUrl: github.url,
      githubRegistryUrl: `http://${githubRegistry.host}`,
      googleTokenUrl: google.tokenUrl,
      googleRegistryUrl: google.registryUrl,
    },
  })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
})
afterAll(async () => {
  await crux.stop()
  const started = [gitlab, gitlabRegistry, github, githubRegistry, google]
  await Promise.all([...started.map((one) => one.stop()), real.remove()])
})

const params = () => ({ teamSlug: team.slug })
const call = () => crux.client(ada).call
const create = (type: Write['type'], details: object): Promise<ResponseOf<'registries.create'>> =>
  call()('registries.create', { params: params(), body: { name: `Registry ${Math.random()}`, type, details } as Write })
const ask = (type: 'find-image' | 'fetch-image-tags', data: object) => askRegistry(crux, ada, team, type, data)
const find = (registryId: string, filter: string) => ask('find-image', { registryId, filter })
const tags = (registryId: string, image: string) => ask('fetch-image-tags', { registryId, images: [image] })
const images = (names: string[]) => ({ images: names.map((name) => ({ name })) })

describe('a registry of GitLab', () => {
  const shop = (more: Details<'gitlab'> = {}) =>
    create('gitlab', { imageNamePrefix: 'company/shop', namespace: 'project', ...gitlabAccount, ...more })

  it('shows the repositories of a project on all pages, with their tags and digests', async () => {
    const registry = await shop()
    expect(registry).toMatchObject({
      url: 'registry.gitlab.com',
      imageUrlPrefix: 'registry.gitlab.com/company/shop',
      details: { namespace: 'project', hasCredentials: true },
    })
    expect(await find(registry.id, 'image-229')).toMatchObject(images(['company/shop/image-229']))
    expect(await tags(registry.id, 'company/shop/web')).toMatchObject({
      images: [{ tags: [{ name: '2.0', created: '2026-03-04T05:06:07.000Z' }, { name: '1.0' }] }],
    })
    expect(await readDigest(crux.app, team, registry.id, 'company/shop/web', '1.0')).toBe(digest)
  })

  it('shows the pages that are asked for, with the number of all images that match', async () => {
    const registry = await shop()
    const page = { registryId: registry.id, filter: 'image-2', skip: 20, take: 5 }
    expect(await ask('find-image', page)).toMatchObject({
      ...images(['220', '221', '222', '223', '224'].map((number) => `company/shop/image-${number}`)),
      skip: 20,
      total: 30,
    })
  })

  it('shows the repositories of a group, whose name is accepted in any case', async () => {
    const registry = await shop({ imageNamePrefix: 'Company', namespace: 'group' })
    expect(registry.details.imageNamePrefix).toBe('company')
    expect(await find(registry.id, 'other')).toMatchObject(images(['company/other']))
  })

  it('of a self-managed instance keeps both addresses', async () => {
    const registry = await shop({ url: gitlabRegistry.host, apiUrl: gitlab.url })
    expect(registry.details).toMatchObject({ url: gitlabRegistry.host, apiUrl: gitlab.url })
    expect(await find(registry.id, 'web')).toMatchObject(images(['company/shop/web']))
  })

  it.each<[string, Details<'gitlab'>, object]>([
    ['an unknown project', { imageNamePrefix: 'company/none' }, { status: 404, property: 'imageNamePrefix' }],
    ['a project that is a group', { namespace: 'group' }, { status: 404, property: 'imageNamePrefix' }],
    ['a wrong token', { token: 'wrong' }, { status: 401, error: 'registryUnauthorized', property: 'token' }],
    ['a missing token', { token: null }, { status: 400, error: 'missingParameter', property: 'token' }],
    ['an API that is missing', { url: 'registry.invalid' }, { error: 'missingParameter', property: 'apiUrl' }],
    ['an unreachable API', { url: 'localhost:1', apiUrl: 'localhost:1' }, { status: 400, property: 'apiUrl' }],
  ])('is refused for %s, at its field', async (_, more, refusal) => {
    await expect(shop(more)).rejects.toMatchObject(refusal)
  })

  it('is refused at the address of the registry, and at that of something that is not GitLab', async () => {
    await expect(shop({ url: 'localhost:1', apiUrl: gitlab.url })).rejects.toMatchObject({ property: 'url' })
    const apiUrl = `${real.url}`
    await expect(shop({ url: gitlabRegistry.host, apiUrl })).rejects.toMatchObject({ property: expect.any(String) })
  })

  it('does not get its token sent to another address, neither by an update nor by its registry', async () => {
    const registry = await shop({ url: gitlabRegistry.host, apiUrl: gitlab.url })
    const details = {
      imageNamePrefix: 'company/shop',
      namespace: 'project' as const,
      url: gitlabRegistry.host,
      apiUrl: github.url,
    }
    const before = github.requests.length
    await expect(
      call()('registries.update', {
        params: { ...params(), registryId: registry.id },
        body: { name: 'Moved', type: 'gitlab', details },
      }),
    ).rejects.toMatchObject({ error: 'missingParameter', property: 'user' })
    expect(github.requests).toHaveLength(before)
    const hostile = await startTokenRegistry(real, { realm: 'https://collector.example.com/token' })
    await expect(shop({ url: hostile.host, apiUrl: gitlab.url })).rejects.toMatchObject({
      property: 'url',
      description: expect.stringContaining('collector.example.com'),
    })
    await hostile.stop()
  })

  it('reports a rate limit with the time that is left', async () => {
    const registry = await shop()
    gitlab.limit({ 'retry-after': '40', 'ratelimit-remaining': '0' })
    expect(await find(registry.id, 'web')).toMatchObject({
      error: 'registryRateLimit',
      description: expect.stringContaining('Try again in 40 seconds.'),
    })
    const before = gitlab.requests.length
    expect(await tags(registry.id, 'company/shop/web')).toMatchObject({ error: 'registryRateLimit' })
    expect(gitlab.requests).toHaveLength(before)
    gitlab.limit(undefined)
  })
})

describe('a registry of GitHub', () => {
  const company = (more: Details<'github'> = {}) =>
    create('github', { imageNamePrefix: 'company', namespace: 'organization', ...githubAccount, ...more })

  it('shows the packages of an organization on all pages, also behind a short page', async () => {
    const registry = await company()
    expect(registry).toMatchObject({ url: 'ghcr.io', imageUrlPrefix: 'ghcr.io/company' })
    expect(await find(registry.id, 'image-229')).toMatchObject(images(['image-229']))
    expect(await find(registry.id, 'image-001')).toMatchObject(images([]))
  })

  it('shows tags with the digests and dates that GitHub knows', async () => {
    const registry = await company()
    expect(await tags(registry.id, 'shop/web')).toMatchObject({
      images: [
        {
          tags: [
            { name: '1.0', created: '2026-01-02T03:04:05.000Z', digest },
            { name: '2.0', created: null },
          ],
        },
      ],
    })
    expect(await readDigest(crux.app, team, registry.id, 'shop/web', '1.0')).toBe(digest)
  })

  it.each<[string, Details<'github'>, object]>([
    ['an unknown organization', { imageNamePrefix: 'nobody' }, { status: 404, property: 'imageNamePrefix' }],
    ['an organization that is a user', { namespace: 'user' }, { status: 404, property: 'imageNamePrefix' }],
    ['a wrong token', { token: 'wrong' }, { status: 401, error: 'registryUnauthorized', property: 'token' }],
    [
      'a token without rights',
      { token: githubNarrowToken },
      { status: 401, property: 'token', description: expect.stringContaining('read:packages') },
    ],
    ['a missing user', { user: null }, { status: 400, error: 'missingParameter', property: 'user' }],
  ])('is refused for %s, at its field', async (_, more, refusal) => {
    await expect(company(more)).rejects.toMatchObject(refusal)
  })

  it('of a user is created too, and reports a rate limit that GitHub answers with 403', async () => {
    const registry = await company({ imageNamePrefix: 'ada', namespace: 'user' })
    const reset = String(Math.floor(Date.now() / 1_000) + 600)
    github.limit({ status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset } })
    expect(await find(registry.id, 'x')).toMatchObject({
      error: 'registryRateLimit',
      description: expect.stringContaining('10 minutes'),
    })
    github.limit(undefined)
  })
})

describe('a registry of Google', () => {
  const europe = (more: Details<'google'> = {}) =>
    create('google', {
      url: 'europe-west1-docker.pkg.dev',
      imageNamePrefix: 'company',
      public: false,
      ...serviceAccount,
      ...more,
    })

  it('shows the images below all repositories, with dates, digests and sizes', async () => {
    const registry = await europe()
    expect(registry).toMatchObject({
      url: 'europe-west1-docker.pkg.dev',
      imageUrlPrefix: 'europe-west1-docker.pkg.dev/company',
      details: { user: serviceAccount.user, hasCredentials: true },
    })
    expect(await find(registry.id, '')).toMatchObject(images(['shop/web', 'tools']))
    expect(await tags(registry.id, 'shop/web')).toMatchObject({
      images: [{ tags: [{ name: '1.0', created: '2026-01-02T03:04:05.000Z', digest, size: 4711 }] }],
    })
    expect(await tags(registry.id, 'tools')).toMatchObject({ images: [{ tags: [{ name: 'a', created: null }] }] })
    expect(await readDigest(crux.app, team, registry.id, 'shop/web', '1.0')).toBe(digest)
  })

  it('asks for access tokens that can only read, and not for each request', async () => {
    const registry = await europe()
    const before = google.minted.length
    await find(registry.id, '')
    await tags(registry.id, 'shop/web')
    expect(google.minted.slice(before)).toEqual([expect.stringMatching(/^\S+read-only \S+read_only$/)])
  })

  it.each([
    ['copied as they are in the file', '\\n'],
    ['lost', ''],
  ])('accepts a key whose line ends were %s', async (_, lineEnd) => {
    const token = serviceAccount.token.replaceAll('\n', lineEnd)
    expect((await europe({ token })).details.hasCredentials).toBe(true)
  })

  it.each<[string, Details<'google'>, object]>([
    ['a text that is no key', { token: 'secret' }, { status: 400, error: 'invalidArgument', property: 'token' }],
    [
      'a key of no known account',
      { token: foreignKey },
      { status: 401, error: 'registryUnauthorized', property: 'token' },
    ],
    ['an unknown account', { user: 'nobody@example.com' }, { status: 401, property: 'token' }],
    ['an unknown project', { imageNamePrefix: 'none' }, { status: 404, property: 'imageNamePrefix' }],
    ['a private project without a key', { public: true }, { status: 401, property: 'user' }],
    ['a host that is not of Google', { url: 'gcr.io.example.com' }, { status: 400, property: 'url' }],
    ['a host with a port', { url: 'gcr.io:5000' }, { status: 400, property: 'url' }],
  ])('is refused for %s, at its field', async (_, more, refusal) => {
    const error: unknown = await europe(more).catch((caught: unknown) => caught)
    expect(error).toMatchObject(refusal)
    expect(JSON.stringify(error)).not.toContain('PRIVATE KEY')
  })

  it.each(['gcr.io', 'us.gcr.io', 'eu.gcr.io', 'asia.gcr.io', 'us-docker.pkg.dev'])(
    'is accepted at %s',
    async (url) => {
      expect((await europe({ url })).url).toBe(url)
    },
  )

  it('never shows its key', async () => {
    const registry = await europe()
    const shown = await call()('registries.get', { params: { ...params(), registryId: registry.id } })
    expect(JSON.stringify([registry, shown])).not.toContain('PRIVATE KEY')
  })
})
