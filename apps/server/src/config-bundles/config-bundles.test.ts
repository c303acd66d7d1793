import type { ContainerConfigFields, FinalContainerConfig } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type DeployTestEnvironment,
  deployWell,
  getTestEnvironment,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let other: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  const owner = server.signUp('Grace')
  other = await getTestEnvironment(server, owner, await server.createTeam(owner))
})
afterAll(() => server.stop())

const rows = (values: Record<string, string | null>) => Object.entries(values).map(([key, value]) => ({ key, value }))
const plain = (environment: { key: string; value: string | null }[] | null | undefined) =>
  Object.fromEntries((environment ?? []).map(({ key, value }) => [key, value]))
let serial = 0
async function makeBundle(
  config: Partial<ContainerConfigFields> = {},
  name = `Bundle ${++serial}`,
  at = testEnvironment,
) {
  const bundle = await at.client.call('config-bundles.create', { params: at.params, body: { name } })
  await at.client.call('config-bundles.update', {
    params: { ...at.params, configBundleId: bundle.id },
    body: { config },
  })
  return { ...bundle, params: { ...at.params, configBundleId: bundle.id } }
}
const carry = async (deploymentId: string, configBundles?: string[], client = testEnvironment.client) => {
  const { prefix } = await testEnvironment.get(deploymentId)
  await client.call('deployments.update', {
    params: { ...testEnvironment.params, deploymentId },
    body: { prefix, protected: false, configBundles },
  })
}
const patch = (configId: string, config: Partial<ContainerConfigFields>) =>
  testEnvironment.client.call('container-configurations.update', {
    params: { ...testEnvironment.params, configId },
    body: { config },
  })
const final = (deploymentId: string) =>
  testEnvironment.client.call('deployments.final-configuration', {
    params: { ...testEnvironment.params, deploymentId },
  })
const setUp = async (image: ContainerConfigFields = {}) => {
  const node = await testEnvironment.node()
  const version = await testEnvironment.version({ images: [{ name: 'web', config: image }] })
  const deployment = await testEnvironment.deployment(version, node.id)
  const details = await testEnvironment.get(deployment.id)
  return { node, version, id: deployment.id, configId: details.config.id, instance: details.instances[0] }
}

describe('a config bundle', () => {
  it('is created empty, renamed, described and configured by the rules of every configuration', async () => {
    const bundle = await testEnvironment.client.call('config-bundles.create', {
      params: testEnvironment.params,
      body: { name: 'Observability', description: 'What every service tells' },
    })
    expect(bundle).toMatchObject({ deploymentCount: 0, config: { type: 'config-bundle', revision: 1 } })
    const params = { ...testEnvironment.params, configBundleId: bundle.id }
    const update = (body: object) => testEnvironment.client.call('config-bundles.update', { params, body })
    await update({ name: 'Telemetry', config: { environment: rows({ LOG_LEVEL: 'info' }) } })
    const now = await testEnvironment.client.call('config-bundles.get', { params })
    expect(now).toMatchObject({ name: 'Telemetry', description: 'What every service tells', configId: bundle.configId })
    expect(plain(now.config.environment)).toEqual({ LOG_LEVEL: 'info' })
    expect(await testEnvironment.client.call('config-bundles.list', { params: testEnvironment.params })).toContainEqual(
      {
        id: bundle.id,
        name: 'Telemetry',
        description: 'What every service tells',
        configId: bundle.configId,
      },
    )
    await expect(
      update({ name: 'Not kept', config: { volumes: [{ name: '../x', path: '/x' }] } }),
    ).rejects.toMatchObject({ status: 400, property: 'config.volumes[0].name' })
    expect((await testEnvironment.client.call('config-bundles.get', { params })).name).toBe('Telemetry')
    await update({ description: null })
    expect((await testEnvironment.client.call('config-bundles.get', { params })).description).toBeNull()
    await expect(makeBundle({}, 'Telemetry')).rejects.toMatchObject({
      status: 409,
      error: 'alreadyExists',
      property: 'name',
    })
    await testEnvironment.client.call('config-bundles.delete', { params })
    await expect(testEnvironment.client.call('config-bundles.get', { params })).rejects.toMatchObject({ status: 404 })
  })

  it('accepts host-dangerous settings from an admin only', async () => {
    const member = await server.addMember(testEnvironment.team, 'user')
    const { params } = await makeBundle()
    const update = (someone: typeof member) =>
      server.client(someone).call('config-bundles.update', { params, body: { config: { networkMode: 'host' } } })
    await expect(update(member)).rejects.toMatchObject({ status: 403, property: 'config.networkMode' })
    await update(testEnvironment.owner)
  })

  it('is not deleted while deployments use it, and reports their number', async () => {
    const bundle = await makeBundle()
    const [one, two] = [await setUp(), await setUp()]
    await carry(one.id, [bundle.id])
    const remove = () => testEnvironment.client.call('config-bundles.delete', { params: bundle.params })
    await expect(remove()).rejects.toMatchObject({
      status: 412,
      property: 'id',
      description: expect.stringContaining('One deployment carries'),
    })
    await carry(two.id, [bundle.id])
    await expect(remove()).rejects.toMatchObject({ description: expect.stringContaining('2 deployments carry') })
    expect(await testEnvironment.client.call('config-bundles.get', { params: bundle.params })).toMatchObject({
      deploymentCount: 2,
    })
    const carriers = await testEnvironment.client.call('config-bundles.deployments', { params: bundle.params })
    expect(carriers.map((deployment) => deployment.id)).toEqual([two.id, one.id])
    const query = { skip: 0, take: 10, configBundleId: bundle.id }
    const page = await testEnvironment.client.call('deployments.list', { params: testEnvironment.params, query })
    expect([page.total, page.items.map((deployment) => deployment.id)]).toEqual([2, [two.id, one.id]])
    await carry(one.id, [])
    await carry(two.id, [])
    await remove()
  })

  it('of another team cannot be seen, changed or attached, not even by direct SQL', async () => {
    const theirs = await makeBundle({}, 'Theirs', other)
    const { id } = await setUp()
    const params = { ...testEnvironment.params, configBundleId: theirs.id }
    for (const operation of ['config-bundles.get', 'config-bundles.delete', 'config-bundles.deployments'] as const)
      await expect(testEnvironment.client.call(operation, { params })).rejects.toMatchObject({ status: 404 })
    await expect(
      testEnvironment.client.call('config-bundles.update', { params, body: { name: 'Mine' } }),
    ).rejects.toMatchObject({
      status: 404,
    })
    await expect(patch(theirs.configId, { tty: true })).rejects.toMatchObject({ status: 404 })
    await expect(carry(id, [theirs.id])).rejects.toMatchObject({ status: 404, property: 'configBundles' })
    const attach = server.app.database.pool.query(
      `insert into crux.deployment_config_bundle (deployment_id, team_id, config_bundle_id, "order") values ($1, $2, $3, 1)`,
      [id, testEnvironment.team.id, theirs.id],
    )
    await expect(attach).rejects.toMatchObject({ code: '23503' })
  })

  it('is deleted with its team, also while it is used', async () => {
    const owner = server.signUp('Leaving')
    const team = await getTestEnvironment(server, owner, await server.createTeam(owner))
    const bundle = await makeBundle({}, 'Gone', team)
    const deployment = await team.deployment(await team.version(), (await team.node()).id)
    await team.client.call('deployments.update', {
      params: { ...team.params, deploymentId: deployment.id },
      body: { prefix: deployment.prefix, protected: false, configBundles: [bundle.id] },
    })
    await team.client.call('teams.delete', { params: { teamId: team.team.id } })
    const left = await server.app.database.pool.query('select from crux.container_config where id = $1', [
      bundle.configId,
    ])
    expect(left.rowCount).toBe(0)
  })
})

describe('a deployment with config bundles', () => {
  it('keeps bundles in their order, keeps them when they are not named, and updates open pages', async () => {
    const [a, b] = [await makeBundle({ tty: true }), await makeBundle({ environment: rows({ A: '1' }) })]
    const { id } = await setUp()
    const channel = server
      .live(testEnvironment.owner)
      .channel('deployment', { ...testEnvironment.params, deploymentId: id })
    const heard: { id: string; name: string; config?: ContainerConfigFields }[][] = []
    channel.on('deployment-bundles-updated', ({ bundles }) => void heard.push(bundles))
    await until(() => channel.status === 'subscribed')
    await carry(id, [b.id, a.id])
    const [first] = await until(() => (heard.length >= 1 ? heard : undefined))
    expect(first?.map((bundle) => bundle.id)).toEqual([b.id, a.id])
    expect(first?.[1]?.config?.tty).toBe(true)
    await carry(id)
    expect((await testEnvironment.get(id)).configBundles.map((bundle) => bundle.name)).toEqual([b.name, a.name])
    await carry(id, [a.id, b.id])
    await until(() => heard.length >= 2)
    await patch(a.configId, { tty: false })
    await until(() => heard.at(-1)?.[0]?.config?.tty === false)
    await expect(carry(id, [a.id, a.id])).rejects.toMatchObject({ status: 400, property: 'configBundles' })
    const details = await testEnvironment.get(id)
    expect(details.configBundles).toMatchObject([
      { id: a.id, configId: a.configId, config: { type: 'config-bundle', tty: false } },
      { id: b.id, configId: b.configId },
    ])
  })

  it('merges four layers, the same before the start and on the node, and a release keeps its configuration', async () => {
    const target = await setUp({ environment: rows({ A: 'image', B: 'image', C: 'image', D: 'image', E: 'image' }) })
    const bundle = await makeBundle({ environment: rows({ B: 'bundle', C: 'bundle', D: 'bundle', E: null }) })
    await carry(target.id, [bundle.id])
    await patch(target.configId, { environment: rows({ C: 'deployment', D: 'deployment' }) })
    await patch(target.instance?.config.id ?? '', { environment: rows({ D: 'instance', V: '{{ versionName }}' }) })
    const expected = { A: 'image', B: 'bundle', C: 'deployment', D: 'instance', V: '1.0.0' }
    const [shown] = await final(target.id)
    expect(plain(shown?.config.environment)).toEqual(expected)
    expect(shown?.origins).toMatchObject({
      'environment.A': { source: 'image', name: 'web' },
      'environment.B': { source: 'config-bundle', name: bundle.name, configId: bundle.configId },
      'environment.C': { source: 'deployment', configId: target.configId },
      'environment.D': { source: 'instance', configId: target.instance?.config.id },
      name: { source: 'default' },
    })
    const agent = await testEnvironment.agent(target.node)
    await testEnvironment.start(target.id)
    const sent = await deployWell(agent)
    const received = (release: typeof sent) =>
      plain((JSON.parse(release.instances[0]?.configJson ?? '{}') as FinalContainerConfig).environment)
    expect(received(sent)).toEqual(expected)
    await testEnvironment.waitForStatus(target.id, 'successful')

    await patch(bundle.configId, { environment: rows({ B: 'later' }) })
    const back = { params: { ...testEnvironment.params, deploymentId: target.id, number: 1 }, query: {} }
    await testEnvironment.client.call('deployments.start-release', back)
    expect(received(await deployWell(agent, 2))).toEqual(expected)
    await testEnvironment.waitForStatus(target.id, 'successful')
    await testEnvironment.start(target.id)
    expect(received(await deployWell(agent, 3))).toMatchObject({ B: 'later', E: 'image' })
    agent.cut()
  })

  it('is not started while its bundles conflict, until its own configuration decides', async () => {
    const target = await setUp()
    const a = await makeBundle({ environment: rows({ LEVEL: 'info', SAME: '1' }), tty: true }, 'Quiet')
    const b = await makeBundle({ environment: rows({ LEVEL: 'debug', SAME: '1' }), tty: false }, 'Loud')
    await carry(target.id, [a.id, b.id])
    const agent = await testEnvironment.agent(target.node)
    await expect(testEnvironment.start(target.id)).rejects.toMatchObject({
      status: 412,
      property: 'configBundles',
      value: 'environment,tty',
      details: [
        { property: 'environment.LEVEL', error: 'ambiguousKeyInConfigs', description: /Quiet and Loud/ },
        { property: 'tty', error: 'ambiguousInConfigs' },
      ].map((detail) =>
        expect.objectContaining({
          ...detail,
          ...(detail.description && { description: expect.stringMatching(detail.description) }),
        }),
      ),
    })
    const preview = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: target.id },
    })
    expect(preview.problems.map((problem) => problem.error)).toEqual(['ambiguousKeyInConfigs', 'ambiguousInConfigs'])
    await patch(target.configId, { environment: rows({ LEVEL: 'warn' }), tty: false })
    await testEnvironment.start(target.id)
    expect(plain((await final(target.id))[0]?.config.environment)).toEqual({ LEVEL: 'warn', SAME: '1' })
    await deployWell(agent)
    agent.cut()
  })

  it('keeps its bundles in a copy and in the next version', async () => {
    const node = await testEnvironment.node()
    const bundle = await makeBundle({ tty: true })
    const version = await testEnvironment.version({ type: 'incremental' })
    const deployment = await testEnvironment.deployment(version, node.id)
    await carry(deployment.id, [bundle.id])
    const copy = await testEnvironment.client.call('deployments.copy', {
      params: { ...testEnvironment.params, deploymentId: deployment.id },
      body: { nodeId: node.id, prefix: 'elsewhere' },
    })
    expect((await testEnvironment.get(copy.id)).configBundles.map(({ id }) => id)).toEqual([bundle.id])
    const params = { ...testEnvironment.params, projectId: version.projectId, versionId: version.versionId }
    await testEnvironment.client.call('versions.update', { params, body: { name: '1.0.0', autoCopyDeployments: true } })
    const next = await testEnvironment.client.call('versions.increase', { params, body: { name: '1.1.0' } })
    const { deployments } = await testEnvironment.client.call('versions.get', {
      params: { ...params, versionId: next.id },
    })
    expect(deployments).toHaveLength(2)
    for (const { id } of deployments)
      expect((await testEnvironment.get(id)).configBundles.map((carried) => carried.id)).toEqual([bundle.id])
  })

  it('shows the layers below each of its configurations, and no value of a secret', async () => {
    const target = await setUp({ secrets: [{ key: 'TOKEN', required: true }] })
    const bundle = await makeBundle({ name: 'from-bundle' })
    await carry(target.id, [bundle.id])
    const sealed = { key: 'TOKEN', required: true, value: await sealFor(keyOne, 'hidden') }
    await patch(target.instance?.config.id ?? '', { secrets: [sealed] })
    const relations = (configId: string) =>
      testEnvironment.client.call('container-configurations.relations', {
        params: { ...testEnvironment.params, configId },
      })
    expect(await relations(target.instance?.config.id ?? '')).toMatchObject({
      image: { name: 'web', labels: {} },
      deployment: {
        config: { id: target.configId, type: 'deployment' },
        configBundles: [{ id: bundle.id, name: bundle.name, config: { name: 'from-bundle' } }],
        instances: [{ containerName: 'from-bundle' }],
      },
    })
    expect(await relations(bundle.configId)).toEqual({ configBundle: { id: bundle.id, name: bundle.name } })
    const shown = await final(target.id)
    expect(shown).toMatchObject([
      { containerName: 'from-bundle', config: { secrets: [{ key: 'TOKEN', required: true, encrypted: true }] } },
    ])
    expect(JSON.stringify(shown)).not.toContain('PGP')
    await patch(target.configId, { metrics: { enabled: true } })
    expect((await final(target.id))[0]?.notApplied).toEqual(['metrics'])
  })
})
