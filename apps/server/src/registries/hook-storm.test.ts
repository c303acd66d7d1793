import { afterAll, beforeAll, expect, it } from 'vitest'
import { githubEvent, signGithub, toDigest } from '../../test/kit/hook-payloads.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam, until } from '../../test/kit/index.ts'
import { generateKey } from '../crypto/cipher.ts'

const events = 1_000
let first: TestServer
let second: TestServer
let ada: Someone
let team: TestTeam
beforeAll(async () => {
  const encryption = { key: generateKey(), deprecatedKey: undefined }
  first = await startTestServer({ config: { encryption } })
  second = await startTestServer({ config: { encryption }, database: first.database, people: first.people })
  ada = first.signUp()
  team = await first.createTeam(ada)
})
afterAll(async () => {
  await second.stop({ database: true })
  await first.stop()
})

async function insertRegistry(type: string) {
  const { rows } = await first.app.database.pool.query<{ id: string }>(
    `insert into crux.registry (team_id, name, type, url, created_by, updated_by)
     values ($1, $2, $2, 'registry.example.com', 'test', 'test') returning id`,
    [team.id, type],
  )
  return { teamSlug: team.slug, registryId: rows[0]?.id ?? '' }
}
/** The repositories that a server hears of, as often as they were reported. */
function listen(server: TestServer, registryId: string) {
  const heard: string[] = []
  server.app.bus.on('registry.pushed', (event) => {
    if (event.registryId === registryId) heard.push(...event.pushes.map(({ repository }) => repository))
  })
  return heard
}
/** Sends each request, many at a time. */
async function sendAll<T>(items: readonly T[], send: (item: T) => Promise<Response>): Promise<Set<number>> {
  const [waiting, statuses] = [[...items], new Set<number>()]
  const lane = async () => {
    for (let item = waiting.shift(); item !== undefined; item = waiting.shift()) statuses.add((await send(item)).status)
  }
  await Promise.all(Array.from({ length: 24 }, lane))
  return statuses
}

it('a storm of pushes that two servers receive twice has each effect once', async () => {
  const params = await insertRegistry('github')
  const heard = listen(first, params.registryId)
  const { url, secret } = await first
    .client(ada)
    .call('registries.create-hook-secret', { params: { ...params, kind: 'github' } })
  const deliveries = Array.from({ length: events }, (_, index) => {
    const image = { owner: 'octo-org', name: `image-${index}`, tag: 'latest', digest: toDigest(`${index}`) }
    const text = JSON.stringify(githubEvent('registry_package', image))
    return { id: `delivery-${index}`, text, signature: signGithub(secret, text) }
  })
  const send = (server: TestServer) => (delivery: (typeof deliveries)[number]) =>
    server.request(url.replace(first.url, ''), {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-github-event': 'registry_package',
        'x-github-delivery': delivery.id,
        'x-hub-signature-256': delivery.signature,
      },
      body: delivery.text,
    })
  const statuses = await Promise.all([sendAll(deliveries, send(first)), sendAll(deliveries, send(second))])
  expect(statuses).toEqual([new Set([204]), new Set([204])])
  await until(() => new Set(heard).size === events, 30_000)
  expect(heard).toHaveLength(events)
  const listed = await first.client(ada).call('registries.list-deliveries', { params })
  expect(listed).toHaveLength(100)
  expect(new Set(listed.map(({ images }) => images[0]?.name)).size).toBe(100)
})

it('an envelope of a thousand notifications that two servers receive at once counts once', async () => {
  const params = await insertRegistry('v2')
  const { token } = await first.client(ada).call('registries.create-token', { params, body: {} })
  const heard = [listen(first, params.registryId), listen(second, params.registryId)]
  const notifications = Array.from({ length: events }, (_, index) => ({
    id: crypto.randomUUID(),
    action: 'push',
    target: { repository: `image-${index}`, tag: '1', digest: toDigest(`${index}`) },
  }))
  const send = (server: TestServer, all: typeof notifications) =>
    server.request(`/api/${team.slug}/registries/${params.registryId}/hooks/v2`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: all }),
    })
  // The same keys in opposite orders: servers that locked them in the order of arrival would wait for each other.
  const sent = [first, second, first, second].map((server, index) =>
    send(server, index % 2 ? notifications.toReversed() : notifications),
  )
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([204, 204, 204, 204])
  await until(() => heard.every((repositories) => new Set(repositories).size === events), 30_000)
  expect(heard.map(({ length }) => length)).toEqual([events, events])
  expect(await first.client(ada).call('registries.list-deliveries', { params })).toHaveLength(100)
})
