import { afterAll, beforeAll, expect, it } from 'vitest'
import { startTestServer, type TestServer } from './kit/index.ts'
import { makeWorld, type World } from './kit/world.ts'

let crux: TestServer
let world: World
beforeAll(async () => {
  crux = await startTestServer()
  world = await makeWorld(crux, crux.signUp('Ada'))
})
afterAll(() => crux.stop())

const metrics = async () => (await crux.request('/metrics')).text()

it('counts business events, and says how many agents are connected and which registries there are', async () => {
  const text = await metrics()
  for (const event of ['project created', 'version created', 'registry connected', 'storage connected'])
    expect(text).toContain(`crux_business_events_total{event="${event}"} 1\n`)
  expect(text).toContain('crux_agent_online_count 0\n')
  expect(text).toContain('crux_registry_type_count{type="unchecked"} 1\n')
  await crux.app.database.pool.query(`update crux.node set link_server = 'some server' where id = $1`, [world.nodeId])
  expect(await metrics()).toContain('crux_agent_online_count 1\n')
})

it('labels no figure with an id, a name or an address', async () => {
  for (const path of [`/api/${world.teamSlug}/projects`, '/api/unknown/anything', '/nowhere', `/${world.teamSlug}`])
    await crux.request(path)
  const labels = [...(await metrics()).matchAll(/\{([^}]*)\}/g)].flatMap(([, text = '']) => text)
  for (const value of [...Object.values(world), 'Shop', 'Machine', 'nowhere', 'unknown/anything', '127.0.0.1'])
    expect([value, labels.filter((text) => text.includes(`"${value}"`) || text.includes(`/${value}`))]).toEqual([
      value,
      [],
    ])
})
