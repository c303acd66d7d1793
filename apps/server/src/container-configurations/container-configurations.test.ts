import type { Live, LiveFailure } from '@crux/client'
import type { ContainerConfigPatch } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { keyOne } from '../../test/node-keys.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

type Refusal = { status: number; error: string; property?: string; value?: unknown; details?: { property: string }[] }
const refusal = (call: Promise<unknown>): Promise<Refusal> =>
  call.then(
    () => Promise.reject(new Error('it was accepted')),
    (error: Refusal) => error,
  )
const at = (configId: string) => ({ ...testEnvironment.params, configId })
const get = (configId: string) => testEnvironment.client.call('container-configurations.get', { params: at(configId) })
const patch = (configId: string, body: ContainerConfigPatch, client = testEnvironment.client) =>
  client.call('container-configurations.update', { params: at(configId), body })

/** A page that is open on one configuration: all received messages, in order. */
async function openPage(someone: Someone, configId: string) {
  const live: Live = server.live(someone)
  const failures: LiveFailure[] = []
  live.onError((failure) => void failures.push(failure))
  const channel = live.channel('container-configuration', at(configId))
  const seen: { type: string; data: never }[] = []
  for (const type of ['patch-received', 'patch-conflict', 'config-updated'] as const)
    channel.on(type, (data) => void seen.push({ type, data: data as never }))
  await until(() => channel.status === 'subscribed')
  return {
    channel,
    failures,
    seen,
    next: <T>(type: string, nth = 1): Promise<T> =>
      until(() => seen.filter((one) => one.type === type)[nth - 1]?.data as T),
  }
}

describe('a configuration patch', () => {
  it('replaces fields, fills in ids, keeps those of equal keys, and counts revisions', async () => {
    const [configId = ''] = (await testEnvironment.version()).imageConfigIds
    await patch(configId, { config: { environment: [{ key: 'A', value: '1' }], tty: true } })
    const first = await get(configId)
    expect(first).toMatchObject({
      tty: true,
      revision: 2,
      updatedBy: testEnvironment.owner.id,
      parent: { name: 'web', mutable: true },
    })
    await patch(configId, {
      config: {
        environment: [
          { key: 'B', value: '2' },
          { key: 'A', value: '3' },
        ],
      },
    })
    const second = await get(configId)
    expect(second.environment?.find((row) => row.key === 'A')).toEqual({ ...first.environment?.[0], value: '3' })
    expect(second.environment?.[0]?.id).toMatch(/^[0-9a-f-]{36}$/)
    await patch(configId, { resetSection: 'environment' })
    expect((await get(configId)).environment ?? null).toBeNull()
  })

  it('without a change creates no revision', async () => {
    const [configId = ''] = (await testEnvironment.version({ images: [{ name: 'web', config: { tty: true } }] }))
      .imageConfigIds
    await patch(configId, { config: { tty: true } })
    expect((await get(configId)).revision).toBe(1)
  })

  it('is refused with every invalid place, and stores nothing', async () => {
    const [configId = ''] = (await testEnvironment.version()).imageConfigIds
    const wrong = await refusal(
      patch(configId, {
        config: { volumes: [{ name: '../x', path: '/' }], routing: { port: 9 }, ports: [{ internal: 80 }] },
      }),
    )
    expect(wrong).toMatchObject({ status: 400, error: 'invalidArgument' })
    expect(wrong.details?.map((detail) => detail.property)).toEqual([
      'config.routing.port',
      'config.volumes[0].name',
      'config.volumes[0].path',
    ])
    const nested = { config: { volumes: [{ name: 'data/x', path: '/host' }] } }
    expect(await refusal(patch(configId, nested))).toMatchObject({ status: 400, property: 'config.volumes[0].name' })
    const twice = {
      config: {
        environment: [
          { key: 'A', value: '' },
          { key: 'A', value: '' },
        ],
      },
    }
    expect(await refusal(patch(configId, twice))).toMatchObject({
      status: 400,
      error: 'keysAreUnique',
      property: 'config.environment[1].key',
    })
    expect((await get(configId)).revision).toBe(1)
  })

  it('is not refused for mistakes that existed before', async () => {
    const [configId = ''] = (
      await testEnvironment.version({ images: [{ name: 'web', config: { networks: [{ key: '-bad' }] } }] })
    ).imageConfigIds
    await patch(configId, { config: { tty: true } })
    expect((await get(configId)).tty).toBe(true)
  })

  it("of an instance is validated with the image's configuration, and with the prefix", async () => {
    const version = await testEnvironment.version({
      images: [{ name: 'web', config: { ports: [{ internal: 80, external: 8080 }] } }],
    })
    const deployment = await testEnvironment.deployment(version, (await testEnvironment.node()).id, 'shop')
    const configId = (await testEnvironment.get(deployment.id)).instances[0]?.config.id ?? ''
    const range = { internal: { from: 79, to: 81 }, external: { from: 9000, to: 9002 } }
    expect(await refusal(patch(configId, { config: { portRanges: [range] } }))).toMatchObject({
      property: 'config.ports[0].internal',
    })
    expect(await refusal(patch(configId, { config: { name: 'n'.repeat(60) } }))).toMatchObject({
      property: 'config.name',
    })
    expect(await refusal(patch(configId, { config: { name: 'My_Name' } }))).toMatchObject({ property: 'config.name' })
    await patch(configId, { config: { name: 'front', secrets: [{ key: 'TOKEN', required: false }] } })
    const relations = await testEnvironment.client.call('container-configurations.relations', { params: at(configId) })
    expect(relations).toMatchObject({
      version: { name: '1.0.0' },
      image: { name: 'web', config: { ports: [{ internal: 80 }] } },
      deployment: {
        prefix: 'shop',
        mutable: true,
        publicKey: keyOne,
        instances: [{ containerName: 'front', secretKeys: ['TOKEN'], imageSecretKeys: [] }],
      },
    })
  })

  it('may set host-dangerous values only for an admin, and only added ones count', async () => {
    const version = await testEnvironment.version({
      images: [{ name: 'web', config: { volumes: [{ name: '/srv', path: '/srv' }] } }],
    })
    const [configId = ''] = version.imageConfigIds
    const client = server.client(await server.addMember(testEnvironment.team, 'user'))
    const body = { config: { networkMode: 'host' as const } }
    expect(await refusal(patch(configId, body, client))).toMatchObject({ status: 403, property: 'config.networkMode' })
    await patch(configId, { config: { tty: true } }, client)
    await patch(configId, body)
    expect(await get(configId)).toMatchObject({ networkMode: 'host', tty: true })
  })

  it('is refused once the deployment or the version is immutable', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const version = await testEnvironment.version({ type: 'incremental' })
    const deployment = await testEnvironment.deployment(version, node.id)
    await testEnvironment.start(deployment.id)
    await deployWell(agent)
    const { instances } = await testEnvironment.waitForStatus(deployment.id, 'successful')
    for (const configId of [instances[0]?.config.id ?? '', version.imageConfigIds[0] ?? ''])
      expect(await refusal(patch(configId, { config: { tty: true } }))).toMatchObject({
        status: 400,
        property: 'configId',
      })
    expect((await get(instances[0]?.config.id ?? '')).parent.mutable).toBe(false)
  })
})

describe('two users on one configuration', () => {
  it('see each other’s changes, and cannot overwrite values that they have not seen', async () => {
    const [configId = ''] = (
      await testEnvironment.version({
        images: [
          {
            name: 'web',
            config: {
              environment: [
                { key: 'A', value: '1' },
                { key: 'B', value: '2' },
              ],
            },
          },
        ],
      })
    ).imageConfigIds
    const ada = await openPage(testEnvironment.owner, configId)
    const grace = await openPage(await server.addMember(testEnvironment.team, 'user', 'Grace'), configId)
    ada.channel.send('patch-config', {
      config: { environment: [{ key: 'A', value: 'ada' }] },
      keys: { environment: ['A'] },
      revision: 1,
    })
    expect(await ada.next('patch-received')).toEqual({ revision: 2 })
    expect(await grace.next('config-updated')).toMatchObject({
      revision: 2,
      environment: [
        { key: 'A', value: 'ada' },
        { key: 'B', value: '2' },
      ],
    })
    expect(await ada.next('config-updated')).toMatchObject({ revision: 2 })
    // Another row on the same old revision is no conflict; the same row is.
    grace.channel.send('patch-config', {
      config: { environment: [{ key: 'B', value: 'grace' }] },
      keys: { environment: ['B'] },
      revision: 1,
    })
    expect(await grace.next('patch-received')).toEqual({ revision: 3 })
    grace.channel.send('patch-config', {
      config: { environment: [{ key: 'A', value: 'grace' }] },
      keys: { environment: ['A'] },
      revision: 1,
    })
    expect(await grace.next('patch-conflict')).toEqual({
      conflicts: [{ property: 'environment.A', value: { key: 'A', value: 'ada' } }],
      revision: 3,
    })
    expect((await get(configId)).environment?.map((row) => row.value)).toEqual(['ada', 'grace'])
    expect(await refusal(patch(configId, { config: { environment: [] }, revision: 1 }))).toMatchObject({
      status: 409,
      error: 'patchConflict',
    })
  })

  it('write at the same moment and lose nothing', async () => {
    const [configId = ''] = (await testEnvironment.version()).imageConfigIds
    await Promise.all(
      [...Array(12).keys()].map((n) =>
        patch(configId, { config: { environment: [{ key: `K${n}`, value: '' }] }, keys: { environment: [`K${n}`] } }),
      ),
    )
    const config = await get(configId)
    expect([config.environment?.length, config.revision]).toEqual([12, 13])
  })

  it('get errors with their place', async () => {
    const [configId = ''] = (await testEnvironment.version()).imageConfigIds
    const page = await openPage(testEnvironment.owner, configId)
    page.channel.send('patch-config', { config: { dockerLabels: [{ key: 'dev.crux.team', value: 'x' }] } })
    const failure = await until(() => page.failures[0])
    expect(failure).toMatchObject({
      status: 400,
      details: [{ property: 'config.dockerLabels[0].key', error: 'reserved' }],
    })
  })
})
