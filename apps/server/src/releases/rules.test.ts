import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import { keyOne, sealFor } from '../../test/node-keys.ts'

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
const user = async () => server.client(await server.addMember(testEnvironment.team, 'user'))
const at = (deploymentId: string) => ({ ...testEnvironment.params, deploymentId })

describe('creating a deployment', () => {
  it('requires a version with images', async () => {
    const node = await testEnvironment.node()
    const empty = await testEnvironment.version({ images: [] })
    expect(await refusal(testEnvironment.deployment(empty, node.id))).toMatchObject({
      status: 412,
      property: 'versionId',
    })
  })

  it('allows one per deployment target for a rolling version, one in preparation for an incremental one', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const [rolling, incremental] = [
      await testEnvironment.version(),
      await testEnvironment.version({ type: 'incremental' }),
    ]
    const [first, second] = [
      await testEnvironment.deployment(rolling, node.id, 'r'),
      await testEnvironment.deployment(incremental, node.id, 'i'),
    ]
    expect(await refusal(testEnvironment.deployment(rolling, node.id, 'r'))).toMatchObject({
      status: 409,
      error: 'rollingVersionDeployment',
      property: 'deploymentId',
      value: first.id,
    })
    expect(await refusal(testEnvironment.deployment(incremental, node.id, 'i'))).toMatchObject({
      error: 'alreadyHavePreparing',
      value: second.id,
    })
    await testEnvironment.start(second.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(second.id, 'successful')
    expect((await testEnvironment.deployment(incremental, node.id, 'i')).status).toBe('preparing')
  })

  it('succeeds for one of two concurrent requests for the same deployment target', async () => {
    const [node, version] = [await testEnvironment.node(), await testEnvironment.version()]
    const answers = await Promise.allSettled([1, 2, 3].map(() => testEnvironment.deployment(version, node.id, 'race')))
    expect(answers.filter((answer) => answer.status === 'fulfilled')).toHaveLength(1)
  })

  it('refuses a prefix that makes a container name too long', async () => {
    const version = await testEnvironment.version({ images: [{ name: 'web', config: { name: 'w'.repeat(40) } }] })
    expect(
      await refusal(testEnvironment.deployment(version, (await testEnvironment.node()).id, 'p'.repeat(30))),
    ).toMatchObject({
      status: 400,
      property: 'prefix',
      details: [{ property: 'instances[0].config.name' }],
    })
  })

  it('answers not found for versions and nodes of another team', async () => {
    const other = await makeDeployTestEnvironment(server)
    const [foreignVersion, foreignNode] = [await other.version(), await other.node()]
    const [version, node] = [await testEnvironment.version(), await testEnvironment.node()]
    expect(await refusal(testEnvironment.deployment(foreignVersion, node.id))).toMatchObject({
      status: 404,
      property: 'versionId',
    })
    expect(await refusal(testEnvironment.deployment(version, foreignNode.id))).toMatchObject({
      status: 404,
      property: 'nodeId',
    })
  })
})

describe('protection', () => {
  it('blocks other deployments from a deployment target until an admin lifts it', async () => {
    const node = await testEnvironment.node()
    await testEnvironment.agent(node)
    const create = (version: { versionId: string }, protect: boolean) =>
      testEnvironment.client.call('deployments.create', {
        params: testEnvironment.params,
        body: { versionId: version.versionId, nodeId: node.id, prefix: 'safe', protected: protect },
      })
    const holder = await create(await testEnvironment.version(), true)
    expect(await refusal(create(await testEnvironment.version(), true))).toMatchObject({
      status: 412,
      property: 'deploymentId',
      value: holder.id,
    })
    const other = await create(await testEnvironment.version(), false)
    expect(await refusal(testEnvironment.start(other.id))).toMatchObject({
      status: 412,
      property: 'protectedDeploymentId',
      value: holder.id,
    })
    const start = (client: DeployTestEnvironment['client'], ignoreProtected: string) =>
      client.call('deployments.start', { params: at(other.id), query: { ignoreProtected }, body: {} })
    expect(await refusal(start(testEnvironment.client, 'yes'))).toMatchObject({
      property: 'protectedDeploymentId',
      status: 412,
    })
    expect(await refusal(start(await user(), 'true'))).toMatchObject({ status: 403 })
    await start(testEnvironment.client, 'true')
    expect((await testEnvironment.get(other.id)).status).toBe('in-progress')
  })

  it('is set and lifted by admins only', async () => {
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version(),
      (await testEnvironment.node()).id,
    )
    const client = await user()
    const body = { prefix: deployment.prefix, protected: true, note: 'x' }
    expect(await refusal(client.call('deployments.update', { params: at(deployment.id), body }))).toMatchObject({
      status: 403,
      property: 'protected',
    })
    await client.call('deployments.update', { params: at(deployment.id), body: { ...body, protected: false } })
    await testEnvironment.client.call('deployments.update', { params: at(deployment.id), body })
    expect(await testEnvironment.get(deployment.id)).toMatchObject({ protected: true, note: 'x' })
  })
})

describe('a start', () => {
  it('is refused while the node is unavailable, and with nothing to deploy', async () => {
    const node = await testEnvironment.node()
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({ status: 412, property: 'nodeId' })
    const none = testEnvironment.client.call('deployments.start', {
      params: at(deployment.id),
      query: {},
      body: { instances: [] },
    })
    expect(await refusal(none)).toMatchObject({ status: 412, property: 'instances' })
    const unknown = testEnvironment.client.call('deployments.start', {
      params: at(deployment.id),
      query: {},
      body: { instances: [randomUUID()] },
    })
    expect(await refusal(unknown)).toMatchObject({ status: 404, property: 'instances' })
  })

  it('without a body deploys everything', async () => {
    const node = await testEnvironment.node()
    await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    const path = `/api/${testEnvironment.team.slug}/deployments/${deployment.id}/start`
    expect((await server.request(path, { method: 'POST', as: testEnvironment.owner })).status).toBe(204)
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
  })

  it('reports every problem with its place, the first at the top level', async () => {
    const node = await testEnvironment.node()
    const version = await testEnvironment.version({
      images: [
        { name: 'web', config: { ports: [{ internal: 80, external: 8080 }] } },
        { name: 'api', config: { name: 'web', ports: [{ internal: 81, external: 8080 }], routing: { port: 99 } } },
      ],
    })
    const deployment = await testEnvironment.deployment(version, node.id)
    const error = await refusal(testEnvironment.start(deployment.id))
    expect(error).toMatchObject({ status: 400, property: 'instances[1].config.routing.port' })
    expect(error.details?.map((detail) => detail.property)).toEqual([
      'instances[1].config.routing.port',
      'instances[1].config.name',
      'instances[1].config.ports[0].external',
    ])
    const preview = await testEnvironment.client.call('deployments.preview', { params: at(deployment.id) })
    expect(preview.problems.map((problem) => problem.property)).toEqual([
      ...(error.details ?? []).map((detail) => detail.property),
      'nodeId',
    ])
    expect(preview.problems[0]?.instanceId).toBe(preview.instances[1]?.instanceId)
  })

  it("checks host-dangerous values of the whole configuration against the caller's role", async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const version = await testEnvironment.version({
      images: [{ name: 'web', config: { volumes: [{ name: '/etc', path: '/etc' }] } }],
    })
    const deployment = await testEnvironment.deployment(version, node.id)
    const params = at(deployment.id)
    expect(await refusal(testEnvironment.start(deployment.id, await user()))).toMatchObject({
      status: 403,
      property: 'instances[0].config.volumes[0].name',
    })
    await testEnvironment.client.call('deployments.start', { params, query: {}, body: {} })
    expect(((await agent.command('deploy')).value as Release).hostDangerousAllowed).toBe(true)
  })

  it('reports problems that were stored in a bundle before validation, at the bundle', async () => {
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version(),
      (await testEnvironment.node()).id,
    )
    const bundle = await testEnvironment.client.call('config-bundles.create', {
      params: testEnvironment.params,
      body: { name: 'Old' },
    })
    await testEnvironment.client.call('deployments.update', {
      params: { ...testEnvironment.params, deploymentId: deployment.id },
      body: { prefix: deployment.prefix, protected: false, configBundles: [bundle.id] },
    })
    await testEnvironment.server.app.database.pool.query(
      `update crux.container_config set fields = '{"networks": [{"key": "-bad"}]}' where id = $1`,
      [bundle.configId],
    )
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({
      status: 400,
      property: 'configBundles[0].config.networks[0].key',
    })
  })

  it('requires required secrets, encrypted and for the current key', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const version = await testEnvironment.version({
      images: [{ name: 'web', config: { secrets: [{ key: 'PASS', required: true }] } }],
    })
    const deployment = await testEnvironment.deployment(version, node.id)
    const [instance] = (await testEnvironment.get(deployment.id)).instances
    const configId = instance?.config.id ?? ''
    const save = (secret: object) =>
      testEnvironment.client.call('container-configurations.update', {
        params: { ...testEnvironment.params, configId },
        body: { config: { secrets: [{ key: 'PASS', required: false, ...secret }] } },
      })
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({
      status: 412,
      property: 'instanceIds',
      value: [instance?.id],
    })
    // A value that was stored before the server validated it, and one encrypted for a key that the node no longer has.
    const put = (secret: object) =>
      testEnvironment.server.app.database.pool.query(
        `update crux.container_config set fields = jsonb_build_object('secrets', $2::jsonb) where id = $1`,
        [configId, JSON.stringify([{ key: 'PASS', required: false, ...secret }])],
      )
    await put({ value: 'plain', encrypted: false, publicKey: keyOne })
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({
      property: 'instanceSecrets',
      value: [{ configId, secretKeys: ['PASS'] }],
    })
    await put({ value: 'pgp', encrypted: true, publicKey: 'key 0' })
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({
      property: 'secrets',
      value: [{ configId }],
    })
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({
      property: 'instanceIds',
      details: [{ property: 'instances[0].config.secrets.PASS', error: 'missingSecret' }],
    })
    const value = await sealFor(keyOne, 'hidden')
    await save({ value })
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    expect(JSON.parse(release.instances[0]?.configJson ?? '').secrets).toMatchObject([
      { key: 'PASS', value, required: true },
    ])
  })

  it('is refused for a successful incremental one', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version({ type: 'incremental' }), node.id)
    await testEnvironment.start(deployment.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    expect(await refusal(testEnvironment.start(deployment.id))).toMatchObject({ status: 412, property: 'status' })
  })
})

describe('a copy of a deployment', () => {
  it('is preparing and unprotected, keeps the configuration, and leaves the secrets of instances with their node', async () => {
    const [node, elsewhere] = [await testEnvironment.node(), await testEnvironment.node()]
    const version = await testEnvironment.version()
    const source = await testEnvironment.deployment(version, node.id)
    const [instance] = (await testEnvironment.get(source.id)).instances
    await testEnvironment.client.call('container-configurations.update', {
      params: { ...testEnvironment.params, configId: instance?.config.id ?? '' },
      body: {
        config: {
          environment: [{ key: 'A', value: '1' }],
          secrets: [{ key: 'S', required: false, value: await sealFor(keyOne, 'hidden') }],
        },
      },
    })
    const copy = (nodeId: string, prefix: string) =>
      testEnvironment.client.call('deployments.copy', {
        params: at(source.id),
        body: { nodeId, prefix, note: 'copied' },
      })
    expect(await refusal(copy(node.id, source.prefix))).toMatchObject({
      error: 'rollingVersionDeployment',
      value: source.id,
    })
    const near = await copy(node.id, 'near')
    const far = await copy(elsewhere.id, source.prefix)
    expect(far).toMatchObject({ status: 'preparing', protected: false, note: 'copied' })
    expect((await testEnvironment.get(near.id)).instances[0]?.config).toMatchObject({
      environment: [{ key: 'A' }],
      secrets: [{ key: 'S', encrypted: true, publicKey: keyOne }],
    })
    const config = (await testEnvironment.get(far.id)).instances[0]?.config
    expect(config).toMatchObject({ environment: [{ key: 'A', value: '1' }] })
    expect(config?.secrets).toBeUndefined()
    const foreign = await (await makeDeployTestEnvironment(server)).node()
    expect(await refusal(copy(foreign.id, 'x'))).toMatchObject({ status: 404, property: 'nodeId' })
  })
})

describe('deleting a deployment', () => {
  it('removes its containers only on request, and only while the node is connected', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const version = await testEnvironment.version()
    const deployment = await testEnvironment.deployment(version, node.id, 'gone')
    await testEnvironment.start(deployment.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    const remove = (containers: 'true' | 'false') =>
      testEnvironment.client.call('deployments.delete', { params: at(deployment.id), query: { containers } })
    const removed = remove('true')
    const { commandId, value } = await agent.command('deleteContainers')
    expect(value).toMatchObject({ owner: { prefix: 'gone', projectId: version.projectId, nodeId: node.id } })
    await agent.respond(commandId, { case: 'done', value: {} })
    await removed
    expect(await refusal(testEnvironment.get(deployment.id))).toMatchObject({ status: 404 })
    const { rows } = await server.app.database.pool.query(
      'select count(*)::int as n from crux.container_config where deployment_id = $1',
      [deployment.id],
    )
    expect(rows[0].n).toBe(0)
  })

  it('keeps the records when the node is unavailable, and is refused while it is in progress', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    const remove = (containers: 'true' | 'false') =>
      testEnvironment.client.call('deployments.delete', { params: at(deployment.id), query: { containers } })
    expect(await refusal(remove('false'))).toMatchObject({ status: 412, property: 'status' })
    await deployWell(agent)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    agent.cut()
    await server.app.database.pool.query('update crux.node set link_server = null where id = $1', [node.id])
    expect(await refusal(remove('true'))).toMatchObject({ status: 412, property: 'nodeId' })
    await remove('false')
    expect(await refusal(testEnvironment.get(deployment.id))).toMatchObject({ status: 404 })
  })
})
