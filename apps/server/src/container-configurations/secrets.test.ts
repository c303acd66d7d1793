import type { Release } from '@crux/agent-protocol'
import type { LiveFailure } from '@crux/client'
import type { ContainerConfigFields } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { type Someone, startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { keyOne, keyTwo, sealFor } from '../../test/node-keys.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

type Secrets = NonNullable<ContainerConfigFields['secrets']>
type Row = {
  key: string
  required?: boolean
  value?: string
  encrypted?: boolean
  generate?: string
  publicKey?: string | null
}
type Refusal = { status: number; property?: string; value?: unknown; message: string; details?: { property: string }[] }
const refusal = (call: Promise<unknown>): Promise<Refusal> =>
  call.then(
    () => Promise.reject(new Error('it was accepted')),
    (error: Refusal) => error,
  )
const at = (configId: string) => ({ ...testEnvironment.params, configId })
const save = (configId: string, rows: readonly Row[], keys?: string[]) =>
  testEnvironment.client.call('container-configurations.update', {
    params: at(configId),
    body: { config: { secrets: [...rows] as Secrets }, ...(keys && { keys: { secrets: keys } }) },
  })
const read = async (configId: string): Promise<Secrets> =>
  (await testEnvironment.client.call('container-configurations.get', { params: at(configId) })).secrets ?? []
const sealed = async (key: string, text = 'hidden', publicKey = keyOne) => ({
  key,
  required: false,
  value: await sealFor(publicKey, text),
})
const byKey = (rows: Secrets | undefined) => [...(rows ?? [])].sort((a, b) => (a.key < b.key ? -1 : 1))
const settled = { encrypted: true, publicKey: keyOne }

async function place(
  prefix: string,
  image: ContainerConfigFields = {},
  at?: { id: string; token: string },
  type: 'rolling' | 'incremental' = 'rolling',
) {
  const node = at ?? (await testEnvironment.node())
  const version = await testEnvironment.version({ type, images: [{ name: 'web', config: image }] })
  const deployment = await testEnvironment.deployment(version, node.id, prefix)
  const { config, instances } = await testEnvironment.get(deployment.id)
  const [instance] = instances
  return {
    id: deployment.id,
    node,
    version,
    configId: config.id,
    instanceId: instance?.id ?? '',
    instanceConfigId: instance?.config.id ?? '',
  }
}

async function openPage(configId: string, someone: Someone = testEnvironment.owner) {
  const live = server.live(someone)
  const failures: LiveFailure[] = []
  live.onError((failure) => void failures.push(failure))
  const channel = live.channel('container-configuration', at(configId))
  const seen: { type: string; data: never }[] = []
  for (const type of ['config-updated', 'config-secrets'] as const)
    channel.on(type, (data) => void seen.push({ type, data: data as never }))
  await until(() => channel.status === 'subscribed')
  return {
    channel,
    failures,
    last: <T>(type: string) => seen.findLast((one) => one.type === type)?.data as T | undefined,
  }
}

describe('the value of a secret', () => {
  it('is stored when it is encrypted for the key of its node, together with that key', async () => {
    const { configId, instanceConfigId } = await place('stored')
    for (const id of [configId, instanceConfigId]) {
      const row = await sealed('A')
      await save(id, [{ ...row, encrypted: false, publicKey: keyTwo }])
      expect(await read(id)).toMatchObject([{ ...row, ...settled }])
      // A list that is sent back as a whole keeps its values; a single row leaves the others unchanged.
      await save(id, [...(await read(id)), { key: 'B' }])
      await save(id, [await sealed('C')], ['C'])
      expect(await read(id)).toMatchObject([{ ...row, ...settled }, { key: 'B' }, { key: 'C', ...settled }])
      await save(id, [{ key: 'A' }], ['A'])
      expect((await read(id))[0]).toEqual({ id: expect.any(String), key: 'A', required: false })
    }
  })

  it('keeps its group in the layers of images and bundles, through a restore and a copy, and in no concrete layer', async () => {
    const row = { key: 'A', required: true, generate: 'database' }
    const { version, configId, instanceConfigId } = await place('grouped', { secrets: [row] })
    const params = { ...testEnvironment.params, projectId: version.projectId, versionId: version.versionId }
    const [image] = await testEnvironment.client.call('images.list', { params })
    const imageConfigId = image?.config.id ?? ''
    expect(await read(imageConfigId)).toMatchObject([row])
    await save(imageConfigId, [{ ...row, generate: 'other' }])
    await testEnvironment.client.call('container-configurations.restore', {
      params: { ...at(imageConfigId), revision: 1 },
      body: {},
    })
    // A restore leaves secrets as they are.
    const changed = { ...row, generate: 'other' }
    expect(await read(imageConfigId)).toMatchObject([changed])
    const bundle = await testEnvironment.client.call('config-bundles.create', {
      params: testEnvironment.params,
      body: { name: 'Grouped' },
    })
    const { config } = await testEnvironment.client.call('config-bundles.get', {
      params: { ...testEnvironment.params, configBundleId: bundle.id },
    })
    await testEnvironment.client.call('container-configurations.copy', {
      params: at(config.id),
      body: { fromConfigId: imageConfigId },
    })
    expect(await read(config.id)).toMatchObject([changed])
    for (const id of [configId, instanceConfigId]) {
      await save(id, [row])
      expect(await read(id)).toEqual([{ id: expect.any(String), key: 'A', required: true }])
    }
  })

  it('is refused as plain text, for another key, or with readable text beside it, and is in no response', async () => {
    const { configId, id, instanceId } = await place('refused')
    const foreign = await sealed('B', 'hidden', keyTwo)
    const inComment = (await sealed('C')).value.replace('\n\n', '\nComment: hunter2\n\n')
    const refused = await refusal(
      save(configId, [{ key: 'A', value: 'hunter2', ...settled }, foreign, { key: 'C', value: inComment }]),
    )
    expect(refused).toMatchObject({
      status: 400,
      property: 'config.secrets[0].value',
      message: expect.stringMatching(/^A: .*not encrypted/),
    })
    expect(refused.details?.map(({ property }) => property)).toEqual([0, 1, 2].map((n) => `config.secrets[${n}].value`))
    expect(JSON.stringify([refused, refused.message])).not.toContain('hunter2')
    expect(await read(configId)).toEqual([])
    const params = { ...testEnvironment.params, deploymentId: id, instanceId }
    const patch = { config: { secrets: [{ key: 'A', required: false, value: 'hunter2' }] } }
    expect(
      await refusal(testEnvironment.client.call('deployments.update-instance', { params, body: patch })),
    ).toMatchObject({
      status: 400,
      property: 'config.secrets[0].value',
    })
    const page = await openPage(configId)
    page.channel.send('patch-config', patch)
    expect(await until(() => page.failures[0])).toMatchObject({ status: 400, property: 'config.secrets[0].value' })
    expect(JSON.stringify(page.failures)).not.toContain('hunter2')
    const { rows } = await server.app.database.pool.query(`select fields::text from crux.container_config`)
    expect(JSON.stringify(rows)).not.toContain('hunter2')
  })

  it('is refused while the node has never been connected, with the required step', async () => {
    const { configId, node } = await place('young')
    await server.app.database.pool.query('update crux.node set public_key = null where id = $1', [node.id])
    expect(await refusal(save(configId, [await sealed('A')]))).toMatchObject({
      status: 400,
      property: 'config.secrets[0].value',
      message: expect.stringContaining('install its agent first'),
    })
    await save(configId, [{ key: 'A', required: true }])
    expect(await read(configId)).toMatchObject([{ key: 'A', required: true }])
  })

  it('is refused for an image or a bundle, which have keys only', async () => {
    const { imageConfigIds } = await testEnvironment.version()
    const bundle = await testEnvironment.client.call('config-bundles.create', {
      params: testEnvironment.params,
      body: { name: 'Keys' },
    })
    for (const configId of [imageConfigIds[0] ?? '', bundle.configId]) {
      expect(await refusal(save(configId, [await sealed('A')]))).toMatchObject({ property: 'config.secrets[0].value' })
      await save(configId, [{ key: 'A', required: true, value: '', encrypted: true, publicKey: keyOne }])
      expect(await read(configId)).toEqual([{ id: expect.any(String), key: 'A', required: true }])
    }
  })
})

describe('a new key of the node', () => {
  it('empties values for the previous key, live, and requires them again before the next start', async () => {
    const spot = await place('rekeyed')
    const first = await testEnvironment.agent(spot.node)
    await save(spot.configId, [await sealed('SHARED')])
    await save(spot.instanceConfigId, [await sealed('OWN'), { key: 'NAMED' }])
    await testEnvironment.start(spot.id)
    await deployWell(first)
    await testEnvironment.waitForStatus(spot.id, 'successful')
    const page = await openPage(spot.instanceConfigId)
    first.cut()
    const second = await testEnvironment.agent(spot.node, { publicKey: keyTwo })
    const { commandId } = await second.command('inspectContainer')
    await second.respond(commandId, { case: 'inspection', value: { json: '{}' } })
    const shown = await until(() => {
      const config = page.last<{ secrets: Secrets }>('config-updated')
      return config?.secrets[0]?.value === '' ? config : undefined
    })
    expect(shown.secrets).toMatchObject([
      { key: 'OWN', value: '', encrypted: false, publicKey: keyTwo },
      { key: 'NAMED' },
    ])
    await until(() => page.last<{ publicKey: string }>('config-secrets')?.publicKey === keyTwo)
    expect(await read(spot.configId)).toMatchObject([{ key: 'SHARED', value: '', publicKey: keyTwo }])

    expect(await refusal(testEnvironment.start(spot.id))).toMatchObject({
      status: 412,
      property: 'secrets',
      value: [{ configId: spot.configId }, { configId: spot.instanceConfigId }],
      message: expect.stringMatching(/SHARED, OWN.*Enter them again/),
    })
    const preview = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: spot.id },
    })
    expect(preview.problems).toMatchObject([{ property: 'secrets' }])
    // A row that is sent back unseen stays required; a value, or the removal of the key, resolves it.
    await save(spot.configId, await read(spot.configId))
    expect(await read(spot.configId)).toMatchObject([{ key: 'SHARED', publicKey: keyTwo }])
    expect(await refusal(save(spot.configId, [await sealed('SHARED')]))).toMatchObject({
      message: expect.stringContaining('not encrypted for the present key'),
    })
    await save(spot.configId, [await sealed('SHARED', 'again', keyTwo)])
    await save(spot.instanceConfigId, [{ key: 'OWN' }])
    await testEnvironment.start(spot.id)
  })
})

describe('secrets of a prefix', () => {
  it('are shared from the newest successful deployment there with the keys that another one names, and no others', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const values: string[] = []
    for (const [index, text] of ['old', 'new'].entries()) {
      const source = await place('shared', {}, node)
      const [db, other] = [await sealed('DB', text), await sealed('OTHER')]
      values.push(db.value)
      await save(source.configId, [db, other])
      await testEnvironment.start(source.id)
      await deployWell(agent, index + 1)
      await testEnvironment.waitForStatus(source.id, 'successful')
    }
    const named = {
      secrets: [
        { key: 'DB', required: true },
        { key: 'MISSING', required: true },
      ],
    }
    const taker = await place('shared', named, node)
    expect(await refusal(testEnvironment.start(taker.id))).toMatchObject({
      property: 'instanceIds',
      message: expect.stringMatching(/\(MISSING\)/),
    })
    const params = { ...testEnvironment.params, deploymentId: taker.id }
    const [shown] = await testEnvironment.client.call('deployments.final-configuration', { params })
    expect(byKey(shown?.config.secrets)).toMatchObject([
      { key: 'DB', encrypted: true },
      { key: 'MISSING', encrypted: false },
    ])
    expect(shown?.origins['secrets.DB']).toMatchObject({
      source: 'deployment',
      name: expect.stringMatching(/ 1\.0\.0$/),
    })
    await save(taker.instanceConfigId, [await sealed('MISSING')])
    await testEnvironment.start(taker.id)
    const release = (await agent.command('deploy', 3)).value as Release
    const sent = JSON.parse(release.instances[0]?.configJson ?? '').secrets as Secrets
    expect(byKey(sent)).toMatchObject([
      { key: 'DB', required: true, value: values[1], ...settled },
      { key: 'MISSING', ...settled },
    ])

    agent.cut()
    await until(() => server.app.links.status(node.id) === 'unreachable')
    const page = await openPage(taker.instanceConfigId)
    page.channel.send('get-config-secrets', {})
    expect((await until(() => page.last<{ shared: string[] }>('config-secrets'))).shared.sort()).toEqual([
      'DB',
      'OTHER',
    ])
    const elsewhere = await place('other-prefix', named, node)
    expect(await refusal(testEnvironment.start(elsewhere.id))).toMatchObject({
      message: expect.stringMatching(/\(DB, MISSING\)/),
    })
  })
})

describe('the list of secrets on a node', () => {
  it('is requested for the container of an instance, and for all containers for the shared secrets of the prefix', async () => {
    const spot = await place('asked')
    const deployment = { ...testEnvironment.params, deploymentId: spot.id }
    const instance = { ...deployment, instanceId: spot.instanceId }
    expect(await refusal(testEnvironment.client.call('deployments.secrets', { params: deployment }))).toMatchObject({
      status: 412,
      property: 'nodeId',
    })
    expect(
      await refusal(testEnvironment.client.call('deployments.instance-secrets', { params: instance })),
    ).toMatchObject({
      status: 412,
      property: 'nodeId',
    })
    const page = await openPage(spot.instanceConfigId)
    page.channel.send('get-config-secrets', {})
    expect(await until(() => page.last('config-secrets'))).toEqual({ keys: [], publicKey: keyOne, shared: [] })

    const agent = await testEnvironment.agent(spot.node)
    const labels = { 'dev.crux.team': testEnvironment.team.id, 'dev.crux.secret.keys': 'A,B' }
    const inspected = testEnvironment.client.call('deployments.instance-secrets', { params: instance })
    // The open page sends its own request when the node reconnects, in addition to the call.
    for (const nth of [1, 2]) {
      const { commandId, value } = await agent.command('inspectContainer', nth)
      expect(value).toMatchObject({ container: { prefix: 'asked', name: 'web' } })
      await agent.respond(commandId, {
        case: 'inspection',
        value: { json: JSON.stringify({ Config: { Labels: labels } }) },
      })
    }
    expect(await inspected).toEqual({
      publicKey: keyOne,
      keys: ['A', 'B'],
      container: { prefix: 'asked', name: 'web' },
    })
    expect(await until(() => page.last<{ keys: string[] }>('config-secrets')?.keys.length === 2)).toBe(true)

    await save(spot.configId, [await sealed('A'), await sealed('NOT_THERE')])
    const listed = testEnvironment.client.call('deployments.secrets', { params: deployment })
    const { commandId } = await agent.command('listContainers')
    const foreign = { 'dev.crux.team': crypto.randomUUID(), 'dev.crux.secret.keys': 'NOT_THERE' }
    const containers = [
      { ref: { prefix: 'asked', name: 'web' }, labels, owned: true },
      { ref: { prefix: '', name: 'asked-db' }, labels: foreign },
    ]
    await agent.respond(commandId, { case: 'containers', value: { containers } })
    expect(await listed).toEqual({ publicKey: keyOne, keys: ['A'] })
    const stranger = await makeDeployTestEnvironment(server)
    const theirs = { ...deployment, teamSlug: stranger.team.slug }
    expect(await refusal(stranger.client.call('deployments.secrets', { params: theirs }))).toMatchObject({
      status: 404,
    })
  })
})

describe('the secrets of a copied deployment', () => {
  it('keep their values at the same node, and elsewhere only the keys of the deployment', async () => {
    const spot = await place('copied')
    await save(spot.configId, [await sealed('SHARED')])
    await save(spot.instanceConfigId, [await sealed('OWN')])
    const copyTo = async (nodeId: string, prefix: string) => {
      const params = { ...testEnvironment.params, deploymentId: spot.id }
      const made = await testEnvironment.client.call('deployments.copy', { params, body: { nodeId, prefix } })
      const { config, instances } = await testEnvironment.get(made.id)
      return [config.secrets, instances[0]?.config.secrets]
    }
    expect(await copyTo(spot.node.id, 'near')).toMatchObject([
      [{ key: 'SHARED', ...settled }],
      [{ key: 'OWN', ...settled }],
    ])
    const bare = [{ id: expect.any(String), key: 'SHARED', required: false }]
    expect(await copyTo((await testEnvironment.node()).id, 'far')).toEqual([bare, undefined])
  })

  it('are part of an increased version, including values', async () => {
    const spot = await place('grown', {}, undefined, 'incremental')
    await save(spot.configId, [await sealed('SHARED')])
    await save(spot.instanceConfigId, [await sealed('OWN')])
    const params = { ...testEnvironment.params, projectId: spot.version.projectId }
    await server.app.database.pool.query('update crux.version set auto_copy_deployments = true where id = $1', [
      spot.version.versionId,
    ])
    const next = await testEnvironment.client.call('versions.increase', {
      params: { ...params, versionId: spot.version.versionId },
      body: { name: '1.1.0' },
    })
    const { deployments } = await testEnvironment.client.call('versions.get', {
      params: { ...params, versionId: next.id },
    })
    const { config, instances } = await testEnvironment.get(deployments[0]?.id ?? '')
    expect(config.secrets).toMatchObject([{ key: 'SHARED', ...settled }])
    expect(instances[0]?.config.secrets).toMatchObject([{ key: 'OWN', ...settled }])
  })
})
