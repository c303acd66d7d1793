import type { BodyInput } from '@crux/contract'
import { type Registry, registryAccount, startRegistry, startTokenRegistry, type TokenRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hubAccount, startHub } from '../../test/kit/hub.ts'
import { type Someone, startTestServer, type TestServer, type TestTeam } from '../../test/kit/index.ts'

let real: Registry
let guarded: Registry
let hub: Awaited<ReturnType<typeof startHub>>
let hubRegistry: TokenRegistry
let crux: TestServer
let ada: Someone
let team: TestTeam

beforeAll(async () => {
  ;[hub, real, guarded] = await Promise.all([startHub(), startRegistry(), startRegistry({ auth: true })])
  hubRegistry = await startTokenRegistry(real, { account: hubAccount })
  crux = await startTestServer({ config: { hubUrl: hub.url, hubRegistryUrl: `http://${hubRegistry.host}` } })
  ada = crux.signUp('Ada Byron')
  team = await crux.createTeam(ada)
  await real.push('person/secret-app', '1.0', { exposed: [8_080] })
  await guarded.push('group/web', '1.0', { exposed: [443] })
})
afterAll(async () => {
  await crux.stop()
  await Promise.all([hub.stop(), hubRegistry.stop(), real.remove(), guarded.remove()])
})

const create = (type: 'v2' | 'hub', details: object) => {
  const body = { name: `Registry ${Math.random()}`, type, details } as BodyInput<'registries.create'>
  return crux.client(ada).call('registries.create', { params: { teamSlug: team.slug }, body })
}
const inspect = (image: string) =>
  crux.client(ada).call('images.inspect', { params: { teamSlug: team.slug }, query: { image } })

describe('the inspection of an image', () => {
  it('uses the stored credential, below the prefix of the registry', async () => {
    await create('v2', { url: guarded.host, imageNamePrefix: 'group', public: false, ...registryAccount })
    expect(await inspect(`${guarded.host}/group/web:1.0`)).toMatchObject({
      exists: true,
      exposedPorts: [{ internal: 443, protocol: 'tcp' }],
    })
    expect(await inspect(`${guarded.host}/group/none:1.0`)).toMatchObject({ exists: false, exposedPorts: [] })
  })

  it('of Docker Hub is answered from the cache when it is repeated, because it counts as a pull', async () => {
    await create('hub', { imageNamePrefix: 'person', public: false, ...hubAccount })
    const found = { exists: true, exposedPorts: [{ internal: 8_080, protocol: 'tcp' }] }
    expect(await inspect('person/secret-app:1.0')).toMatchObject(found)
    const requests = hubRegistry.requests.length
    expect(requests).toBeGreaterThan(0)
    expect(await inspect('docker.io/person/secret-app:1.0')).toMatchObject(found)
    expect(hubRegistry.requests).toHaveLength(requests)
  })
})
