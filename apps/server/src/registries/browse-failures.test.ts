import type { ServerResponse } from 'node:http'
import type { BodyInput } from '@crux/contract'
import { type Registry, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { gitlabAccount, startGitlab } from '../../test/kit/gitlab.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { askRegistry } from '../../test/kit/registry-channel.ts'

type Answer = (url: URL, outgoing: ServerResponse) => boolean
const passOn: Answer = () => false

let real: Registry
let gitlab: Awaited<ReturnType<typeof startGitlab>>
let gitlabRegistry: TokenRegistry
let proxy: TokenRegistry
let intercept = passOn
/** The requests for pages of a list, as path and query. */
let pages: string[] = []
let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  real = await startRegistry()
  await real.push('company/shop/web', '1.0', {})
  ;[gitlab, gitlabRegistry, proxy] = await Promise.all([
    startGitlab(['company/shop/web']),
    startTokenRegistry(real, { account: gitlabAccount }),
    startTokenRegistry(real, {
      account: null,
      answer: ({ url, method }, outgoing) => method === 'GET' && answer(new URL(url ?? '/', 'http://r'), outgoing),
    }),
  ])
  gitlab.intercept(answer)
  const config = { gitlabUrl: gitlab.url, gitlabRegistryUrl: `http://${gitlabRegistry.host}` }
  crux = await startTestServer({ config })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
})
afterEach(() => {
  intercept = passOn
  pages = []
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([gitlab.stop(), gitlabRegistry.stop(), proxy.stop(), real.remove()])
})

function answer(url: URL, outgoing: ServerResponse): boolean {
  if (!/_catalog|tags\/list|registry\/repositories/.test(url.pathname)) return false
  pages.push(url.pathname + url.search)
  return intercept(url, outgoing)
}

async function create(write: Omit<BodyInput<'registries.create'>, 'name'>): Promise<string> {
  const body = { name: `Registry ${Math.random()}`, ...write } as BodyInput<'registries.create'>
  const { id } = await crux.client(ada).call('registries.create', { params: { teamSlug: team.slug }, body })
  return id
}
const createV2 = () =>
  create({ type: 'v2', details: { url: proxy.host, imageNamePrefix: 'company/shop', public: true } })
const createGitlab = () =>
  create({ type: 'gitlab', details: { imageNamePrefix: 'company/shop', namespace: 'project', ...gitlabAccount } })

const find = (registryId: string, filter = '', page = {}) =>
  askRegistry(crux, ada, team, 'find-image', { registryId, filter, ...page })
const tags = (registryId: string, image: string) =>
  askRegistry(crux, ada, team, 'fetch-image-tags', { registryId, images: [image] }) as Promise<{
    images: { tags: { name: string }[] }[]
  }>

const toHeaders = (headers: Record<string, string>) => headers
const json = (outgoing: ServerResponse, body: unknown, headers: Record<string, string> = {}) => {
  outgoing.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}
/** Closes the connection after half of what was announced. */
function cut(outgoing: ServerResponse, body: unknown): boolean {
  const text = JSON.stringify(body)
  outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': text.length })
  outgoing.write(text.slice(0, text.length / 2), () => outgoing.destroy())
  return true
}

describe.each([
  {
    type: 'v2',
    open: createV2,
    list: (names: string[]) => ({ repositories: names.map((name) => `company/shop/${name}`) }),
    found: (name: string) => name,
    paging: toHeaders({ link: '</v2/_catalog?n=1000&last=z>; rel="next"' }),
    isSecond: (url: URL) => url.searchParams.has('last'),
  },
  {
    type: 'gitlab',
    open: createGitlab,
    list: (names: string[]) => names.map((name) => ({ path: `company/shop/${name}` })),
    found: (name: string) => `company/shop/${name}`,
    paging: toHeaders({ 'x-next-page': '2', 'x-total-pages': '2' }),
    isSecond: (url: URL) => url.searchParams.get('page') === '2',
  },
])('a registry of type $type', ({ open, list, found, paging, isSecond }) => {
  const recovers = async (id: string) => {
    intercept = passOn
    expect(await find(id)).toMatchObject({ images: [{ name: found('web') }] })
  }

  it('that answers slowly is asked once for all callers, and delays no other registry', async () => {
    const [id, other] = [await open(), await open()]
    const held: ServerResponse[] = []
    intercept = (_, outgoing) => held.push(outgoing) > 0
    const callers = [find(id), find(id, 'web')]
    await until(() => held.length === 1)
    await recovers(other)
    pages = []
    for (const outgoing of held) json(outgoing, list(['web']))
    for (const caller of callers) expect(await caller).toMatchObject({ images: [{ name: found('web') }] })
    expect(pages).toEqual([])
  })

  it('that never answers is reported, and asked again by the next caller', async () => {
    const id = await open()
    intercept = () => true
    expect(await find(id)).toMatchObject({ description: expect.stringContaining('did not answer in time') })
    await recovers(id)
  })

  it.each(['first', 'second'])(
    'that closes the connection within its %s page shows no part of the list',
    async (nth) => {
      const id = await open()
      intercept = (url, outgoing) =>
        nth === 'first' || isSecond(url) ? cut(outgoing, list(['web', 'api'])) : json(outgoing, list(['db']), paging)
      const refused = await find(id)
      expect(refused).toMatchObject({ description: expect.stringContaining('Could not reach the registry') })
      expect(refused).not.toHaveProperty('images')
      await recovers(id)
    },
  )

  it('that answers 500 is reported with the status', async () => {
    const id = await open()
    intercept = (_, outgoing) => {
      outgoing.writeHead(500, { 'content-type': 'text/html' }).end('<h1>Internal error</h1>')
      return true
    }
    expect(await find(id)).toMatchObject({ error: 'invalidArgument', description: expect.stringContaining('(500)') })
    await recovers(id)
  })

  it('that answers with something that is no list shows none', async () => {
    const id = await open()
    intercept = (_, outgoing) => json(outgoing, [null, 1, { path: 7, repositories: 'x' }])
    expect(await find(id)).toMatchObject({ images: [] })
  })

  it('of 10,000 repositories is read completely, and the server searches it', async () => {
    const id = await open()
    const all = Array.from({ length: 10_000 }, (_, index) => `app-${String(index).padStart(5, '0')}`)
    intercept = (url, outgoing) => {
      const size = Number(url.searchParams.get('per_page') ?? url.searchParams.get('n'))
      const start = Number(url.searchParams.get('last') ?? (Number(url.searchParams.get('page') ?? 1) - 1) * size)
      const last = start + size >= all.length
      return json(outgoing, list(all.slice(start, start + size)), {
        ...(!last && { link: `</v2/_catalog?n=${size}&last=${start + size}>; rel="next"` }),
        'x-next-page': last ? '' : String(start / size + 2),
        'x-total-pages': String(all.length / size),
      })
    }
    const page = { skip: 998, take: 5 }
    expect(await find(id, 'APP-09', page)).toMatchObject({
      total: 1_000,
      images: [{ name: found('app-09998') }, { name: found('app-09999') }],
    })
    const read = pages.length
    expect(await find(id, 'app-00001')).toMatchObject({ images: [{ name: found('app-00001') }] })
    expect(pages).toHaveLength(read)
    expect(new Set(pages).size).toBe(read)
  })

  it('that names a next page after each empty page is asked for a limited number of pages', async () => {
    const id = await open()
    let next = 1
    intercept = (url, outgoing) => {
      next = Math.max(next, Number(url.searchParams.get('page') ?? next)) + 1
      const link = `</v2/_catalog?n=1000&last=${next}>; rel="next"`
      return json(outgoing, list([]), { link, 'x-next-page': String(next), 'x-total-pages': '1000000' })
    }
    expect(await find(id)).toMatchObject({ images: [] })
    expect(pages.length).toBeLessThanOrEqual(210)
  })
})

describe('an image with many tags', () => {
  it('of 10,000 tags is read completely, page by page, without a request for a single tag', async () => {
    const id = await createV2()
    intercept = (url, outgoing) => {
      const start = Number(url.searchParams.get('last') ?? 0)
      const more = start + 1_000 < 10_000
      const link = `</v2/company/shop/web/tags/list?n=1000&last=${start + 1_000}>; rel="next"`
      const body = { name: 'web', tags: Array.from({ length: 1_000 }, (_, index) => `1.${start + index}`) }
      return json(outgoing, body, more ? { link } : {})
    }
    const before = proxy.requests.length
    const { images } = await tags(id, 'web')
    expect(images[0]?.tags).toHaveLength(10_000)
    expect(new Set(images[0]?.tags.map(({ name }) => name)).size).toBe(10_000)
    // The higher version first.
    expect(images[0]?.tags.slice(0, 2)).toMatchObject([{ name: '1.9999' }, { name: '1.9998' }])
    expect(pages).toHaveLength(10)
    expect(proxy.requests.slice(before).filter(({ line }) => line.includes('/manifests/'))).toEqual([])
  })

  it('is shown as its first 10,000 tags when a page has more of them than a call has arguments', async () => {
    const id = await createV2()
    const all = Array.from({ length: 400_000 }, (_, index) => `t${index}`)
    intercept = (_, outgoing) => json(outgoing, { name: 'web', tags: all })
    const { images } = await tags(id, 'web')
    expect(images[0]?.tags).toHaveLength(10_000)
  })
})
