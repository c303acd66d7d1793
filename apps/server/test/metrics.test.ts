import { afterAll, beforeAll, expect, it } from 'vitest'
import { dial } from './kit/dial.ts'
import { startHub } from './kit/hub.ts'
import { type Someone, startTestServer, type TestServer, until } from './kit/index.ts'
import { makeTestEnvironment, type TestEnvironment } from './kit/test-environment.ts'

let crux: TestServer
let ada: Someone
let testEnvironment: TestEnvironment
let hub: Awaited<ReturnType<typeof startHub>>
beforeAll(async () => {
  hub = await startHub()
  crux = await startTestServer({ config: { hubUrl: hub.url } })
  ada = crux.signUp('Ada')
  testEnvironment = await makeTestEnvironment(crux, ada)
})
afterAll(async () => {
  await crux.stop()
  await hub.stop()
})

const metrics = async () => (await crux.request('/metrics')).text()
const figure = async (line: string) =>
  Number(
    (await metrics())
      .split('\n')
      .find((text) => text.startsWith(`${line} `))
      ?.slice(line.length + 1) ?? 0,
  )

it('metrics count business events, connected agents and registries', async () => {
  const text = await metrics()
  for (const event of ['project created', 'version created', 'registry connected', 'storage connected'])
    expect(text).toContain(`crux_business_events_total{event="${event}"} 1\n`)
  expect(text).toContain('crux_agent_online_count 0\n')
  expect(text).toContain('crux_registry_type_count{type="unchecked"} 1\n')
  await crux.app.database.pool.query(`update crux.node set link_server = 'some server' where id = $1`, [
    testEnvironment.nodeId,
  ])
  expect(await metrics()).toContain('crux_agent_online_count 1\n')
})

it('metrics have no label with an id, a name or an address', async () => {
  for (const path of [
    `/api/${testEnvironment.teamSlug}/projects`,
    '/api/unknown/anything',
    '/nowhere',
    `/${testEnvironment.teamSlug}`,
  ])
    await crux.request(path)
  const labels = [...(await metrics()).matchAll(/\{([^}]*)\}/g)].flatMap(([, text = '']) => text)
  for (const value of [
    ...Object.values(testEnvironment),
    'Shop',
    'Machine',
    'nowhere',
    'unknown/anything',
    '127.0.0.1',
  ])
    expect([value, labels.filter((text) => text.includes(`"${value}"`) || text.includes(`/${value}`))]).toEqual([
      value,
      [],
    ])
})

it('metrics count live sockets, paths by their pattern, and messages by their type', async () => {
  const socket = await dial(crux.url, ada.token)
  const second = await dial(crux.url, ada.token)
  const versionPath = `/${testEnvironment.teamSlug}/projects/${testEnvironment.projectId}/versions/${testEnvironment.versionId}`
  await socket.subscribe(`/${testEnvironment.teamSlug}/registries`)
  for (const one of [socket, second]) await one.subscribe(versionPath)
  expect(await figure('crux_ws_connected_clients')).toBe(2)
  // Two sockets on one path are one namespace.
  expect(await figure('crux_ws_route_namespaces{path="/:teamSlug/projects/:projectId/versions/:versionId"}')).toBe(1)
  expect(await figure('crux_ws_route_namespaces{path="/:teamSlug/registries"}')).toBe(1)
  expect(await figure('crux_ws_message_type_receive{type="subscribe"}')).toBe(3)
  expect(await figure('crux_ws_message_type_send{type="subbed"}')).toBe(3)

  for (let n = 0; n < 50; n++) socket.send(`${versionPath}/invented-${n}`, {})
  await until(async () => (await figure('crux_ws_message_type_send{type="error"}')) >= 50)
  expect(await figure('crux_ws_message_type_receive{type="unknown"}')).toBe(50)
  expect(await metrics()).not.toContain('invented')

  socket.send('unsubscribe', { path: versionPath })
  second.socket.close()
  await until(async () => (await figure('crux_ws_connected_clients')) === 1)
  await until(
    async () =>
      (await figure('crux_ws_route_namespaces{path="/:teamSlug/projects/:projectId/versions/:versionId"}')) === 0,
  )
  socket.socket.close()
})

it('metrics count requests to registries by their type, and those that the cache of Docker Hub saved', async () => {
  const registry = await crux.client(ada).call('registries.create', {
    params: { teamSlug: testEnvironment.teamSlug },
    body: { name: 'Hub', type: 'hub', details: { imageNamePrefix: 'crux', public: true } },
  })
  const socket = await dial(crux.url, ada.token)
  const path = `/${testEnvironment.teamSlug}/registries`
  await socket.subscribe(path)
  const answered = async (count: number) =>
    until(() => socket.frames.filter(({ type }) => type === `${path}/find-image-result`).length === count)
  for (let n = 1; n <= 3; n++) {
    socket.send(`${path}/find-image`, { registryId: registry.id, filter: 'image' })
    await answered(n)
  }
  socket.send(`${path}/fetch-image-tags`, { registryId: registry.id, images: ['image-1'] })
  await socket.next(({ type }) => type === `${path}/registry-image-tags`)
  expect(await figure('crux_registry_api_request{type="hub",request="catalog"}')).toBe(1)
  expect(await figure('crux_registry_api_request{type="hub",request="tags"}')).toBe(1)
  expect(await figure('crux_registry_hub_cache{type="hit"}')).toBe(2)
  expect(await figure('crux_registry_hub_cache{type="miss"}')).toBe(2)
  socket.socket.close()
})
