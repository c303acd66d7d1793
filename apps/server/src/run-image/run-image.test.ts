import { randomUUID } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import type { BodyInput } from '@crux/contract'
import { type Registry, startRegistry, unique } from '@crux/test-kit'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'

/** Connections to this port are refused at once. */
const noHub = { hubUrl: 'http://127.0.0.1:9', hubRegistryUrl: 'http://127.0.0.1:9' }
let server: TestServer
let registry: Registry
let testEnvironment: DeployTestEnvironment
let node: { id: string; name: string; token: string }
let agent: ScriptedAgent

beforeAll(async () => {
  ;[server, registry] = await Promise.all([startTestServer({ config: noHub }), startRegistry()])
  await registry.push('shop/web', '1.0', { exposed: [80, 9_000], labels: { 'dev.crux.test': 'yes' } })
})
afterAll(() => Promise.all([server.stop(), registry.remove()]))
/** A team of its own for each test, with a connected node and a registry that is queried. */
beforeEach(async () => {
  testEnvironment = await makeDeployTestEnvironment(server)
  node = await testEnvironment.node()
  agent = await testEnvironment.agent(node)
  await testEnvironment.registry({ url: registry.host })
})

type Run = BodyInput<'projects.run'>
const toBody = (more: Partial<Run> = {}): Run => ({
  key: randomUUID(),
  image: `${registry.host}/shop/web:1.0`,
  nodeId: node.id,
  prefix: unique('web-'),
  ...more,
})
const run = (body: Run, as: Client = testEnvironment.client) =>
  as.call('projects.run', { params: testEnvironment.params, body })
type Refusal = { status: number; error: string; property?: string; description?: string }
const refusal = (call: Promise<unknown>): Promise<Refusal> =>
  call.then(
    () => Promise.reject(new Error('it was accepted')),
    (error: Refusal) => error,
  )
const asUser = async () => server.client(await server.addMember(testEnvironment.team, 'user'))

/** The rows that a run creates in this team. */
async function countRows() {
  const { rows } = await server.app.database.pool.query(
    `select (select count(*)::int from crux.project where team_id = $1) as projects,
      (select count(*)::int from crux.image i join crux.version v on v.id = i.version_id
        join crux.project p on p.id = v.project_id where p.team_id = $1) as images,
      (select count(*)::int from crux.deployment where team_id = $1) as deployments,
      (select count(*)::int from crux.release where team_id = $1) as releases,
      (select count(*)::int from crux.registry where team_id = $1) as registries,
      (select count(*)::int from crux.image_run where team_id = $1) as runs`,
    [testEnvironment.team.id],
  )
  return rows[0]
}
/** A new team has Docker Hub's official images, and each test adds two registries. */
const nothing = { projects: 0, images: 0, deployments: 0, releases: 0, registries: 3, runs: 0 }

describe('running an image', () => {
  it('creates project, image and deployment for a user of the team, and starts the deployment', async () => {
    const body = toBody({
      ports: [{ internal: 80, external: 18_080 }],
      environment: [{ key: 'MODE', value: 'demo' }],
    })
    const started = await run(body, await asUser())
    const release = await deployWell(agent)
    await testEnvironment.waitForStatus(started.deploymentId, 'successful')
    expect(release.owner).toMatchObject({ prefix: body.prefix, projectId: started.projectId })
    expect(release.instances).toMatchObject([{ imageName: `${registry.host}/shop/web`, imageTag: '1.0' }])
    expect(JSON.parse(release.instances[0]?.configJson ?? '')).toMatchObject({
      name: 'web',
      ports: [{ internal: 80, external: 18_080 }],
      environment: [{ key: 'MODE', value: 'demo' }],
    })
    const params = { ...testEnvironment.params, projectId: started.projectId }
    const project = await testEnvironment.client.call('projects.get', { params })
    expect(project).toMatchObject({ name: 'web', type: 'versionless', versions: [{ id: started.versionId }] })
    const version = await testEnvironment.client.call('versions.get', {
      params: { ...params, versionId: started.versionId },
    })
    expect(version.images).toMatchObject([{ name: 'shop/web', tag: '1.0', labels: { 'dev.crux.test': 'yes' } }])
  })

  it('pins an image that is named by its digest, although its tag was moved', async () => {
    const name = unique('shop/pinned-')
    const digest = await registry.push(name, '1.0', { labels: { build: '1' } })
    await registry.push(name, '1.0', { labels: { build: '2' } })
    const query = { image: `${registry.host}/${name}@${digest}` }
    const inspection = await testEnvironment.client.call('images.inspect', { params: testEnvironment.params, query })
    expect(inspection).toMatchObject({ tag: digest, exists: true })
    await run(toBody(query))
    const { instances } = await deployWell(agent)
    expect(instances).toMatchObject([{ imageName: `${registry.host}/${name}`, imageDigest: digest }])
  })

  it('answers a repeated request with what the first one created', async () => {
    const body = toBody()
    const first = await run(body)
    expect(await run(body)).toEqual(first)
    expect(await countRows()).toEqual({ ...nothing, projects: 1, images: 1, deployments: 1, releases: 1, runs: 1 })
  })

  it('answers requests with one key to two servers at once with the same ids', async () => {
    const other = await startTestServer({ config: noHub, database: server.database, people: server.people })
    try {
      const body = toBody()
      const clients = [server, other, server, other].map((one) => one.client(testEnvironment.owner))
      const answers = await Promise.all(clients.map((client) => run(body, client)))
      expect(new Set(answers.map((answer) => answer.deploymentId)).size).toBe(1)
      expect(answers[1]).toEqual(answers[0])
      expect(await countRows()).toEqual({ ...nothing, projects: 1, images: 1, deployments: 1, releases: 1, runs: 1 })
    } finally {
      await other.stop({ database: true })
    }
  })

  it('gives two runs of one image at once names and prefixes of their own', async () => {
    const started = await Promise.all([run(toBody()), run(toBody())])
    const projects = await testEnvironment.client.call('projects.list', { params: testEnvironment.params })
    expect(projects.map(({ name }) => name).sort()).toEqual(['web', 'web 2'])
    expect(started[0].projectId).not.toBe(started[1].projectId)
  })

  it('refuses a key that has run another image', async () => {
    const body = toBody()
    await run(body)
    expect(await refusal(run({ ...body, prefix: unique('other-') }))).toMatchObject({
      status: 409,
      error: 'alreadyExists',
      property: 'key',
    })
  })

  it('does not answer a key of another team', async () => {
    const body = toBody()
    const first = await run(body)
    const other = await makeDeployTestEnvironment(server)
    const foreign = await other.node()
    await other.agent(foreign)
    await other.registry({ url: registry.host })
    const second = await other.client.call('projects.run', {
      params: other.params,
      body: { ...body, nodeId: foreign.id },
    })
    expect(second.projectId).not.toBe(first.projectId)
  })

  it('keeps values of the environment out of the audit log, which names the deployment', async () => {
    const { deploymentId } = await run(toBody({ environment: [{ key: 'PASSWORD', value: 'hunter-two' }] }))
    const { rows } = await server.app.database.pool.query(
      `select data from crux.audit_log where team_id = $1 and event = 'project projects.run'`,
      [testEnvironment.team.id],
    )
    expect(rows).toMatchObject([{ data: { params: { deploymentId }, environment: ['PASSWORD'] } }])
    expect(JSON.stringify(rows)).not.toContain('hunter-two')
  })
})

describe('a run that is refused leaves nothing', () => {
  const check = async (body: Run, expected: Partial<Refusal>, as?: Client) => {
    expect(await refusal(run(body, as))).toMatchObject(expected)
    expect(await countRows()).toEqual(nothing)
  }

  it('when the node is not connected, although the registry would have been created', async () => {
    const away = await testEnvironment.node()
    const body = toBody({ nodeId: away.id, image: 'ghcr.io/acme/shop:1', createRegistry: true })
    await check(body, { status: 412, property: 'nodeId' })
  })

  it('when the registry has no such tag', async () => {
    await check(toBody({ image: `${registry.host}/shop/web:none` }), { status: 404, property: 'image' })
    await check(toBody({ image: `${registry.host}/shop/none:1.0` }), { status: 404, property: 'image' })
  })

  it('when the tag was deleted after the inspection found it', async () => {
    const image = unique('shop/gone-')
    await registry.push(image, '1.0', {})
    const query = { image: `${registry.host}/${image}:1.0` }
    const { call } = testEnvironment.client
    expect(await call('images.inspect', { params: testEnvironment.params, query })).toMatchObject({ exists: true })
    await registry.deleteTag(image, '1.0')
    await check(toBody(query), { status: 404, property: 'image' })
  })

  it('when the text is not an image, or the registry does not have its digest', async () => {
    await check(toBody({ image: 'Shop Web' }), { status: 400, property: 'image' })
    await check(toBody({ image: 'nginx@sha256:12' }), { status: 400, property: 'image' })
    const image = `${registry.host}/shop/web:1.0@sha256:${'a'.repeat(64)}`
    await check(toBody({ image }), { status: 404, property: 'image' })
  })

  it('when the team has no registry for the host, and tells users whom to ask', async () => {
    const image = 'ghcr.io/acme/shop:1'
    await check(toBody({ image }), { status: 412, property: 'registry' })
    const denied = { status: 403, error: 'forbidden', property: 'registry' }
    await check(toBody({ image, createRegistry: true }), denied, await asUser())
    expect((await refusal(run(toBody({ image }), await asUser()))).description).toBe(
      'The team has no registry for ghcr.io. Ask an admin of the team to create one.',
    )
  })

  it('when node or registry are of another team', async () => {
    const other = await makeDeployTestEnvironment(server)
    const foreign = await other.node()
    await check(toBody({ nodeId: foreign.id }), { status: 404, property: 'nodeId' })
    await check(toBody({ registryId: other.registryId }), { status: 404, property: 'registryId' })
  })

  it('when two rows publish the same port, or one names a port that does not exist', async () => {
    const ports = [
      { internal: 80, external: 18_090 },
      { internal: 81, external: 18_090 },
    ]
    await check(toBody({ ports }), { status: 400, property: 'ports[1].external' })
    await check(toBody({ ports: [{ internal: 80, external: 70_000 }] }), { status: 400 })
  })

  it('when the agent reports that something else uses a port', async () => {
    agent.failing.clear()
    const running = refusal(run(toBody({ ports: [{ internal: 80, external: 18_091 }] })))
    const asked = await agent.command('findPortHolders')
    await agent.respond(asked.commandId, {
      case: 'portHolders',
      value: { holders: [{ port: { port: 18_091, protocol: 'tcp', address: '' }, containerName: '' }] },
    })
    expect(await running).toMatchObject({ status: 412, property: 'ports[0].external' })
    expect(await countRows()).toEqual(nothing)
  })
})

describe('the registry of an image that is run', () => {
  it('is created unchecked by an admin, once for all images of its host', async () => {
    const admin = server.client(await server.addMember(testEnvironment.team, 'admin'))
    await run(toBody({ image: 'ghcr.io/acme/shop:1', createRegistry: true }), admin)
    await run(toBody({ image: 'ghcr.io/acme/other:1', createRegistry: true }), admin)
    const registries = await testEnvironment.client.call('registries.list', { params: testEnvironment.params })
    expect(registries.filter(({ url }) => url === 'ghcr.io')).toMatchObject([{ name: 'ghcr.io', type: 'unchecked' }])
    const { value } = await agent.command('deploy')
    expect((value as Release).instances).toMatchObject([{ imageName: 'ghcr.io/acme/shop' }])
  })

  it('of Docker Hub gives an image without a host its full name', async () => {
    await run(toBody({ image: 'nginx', createRegistry: true }))
    const { value } = await agent.command('deploy')
    expect((value as Release).instances).toMatchObject([{ imageName: 'docker.io/library/nginx', imageTag: 'latest' }])
  })

  it("may be the engine's own store, where it is chosen", async () => {
    const registryId = await testEnvironment.registry({ local: true, url: '' })
    await run(toBody({ image: 'built-here:2', registryId }))
    const { value } = await agent.command('deploy')
    expect((value as Release).instances).toMatchObject([{ imageName: 'built-here', imageTag: '2' }])
    const pinned = toBody({ image: `built-here@sha256:${'a'.repeat(64)}`, registryId })
    expect(await refusal(run(pinned))).toMatchObject({ status: 400, property: 'image' })
  })
})

it('refuses a prefix that another project uses on the node', async () => {
  const body = toBody()
  await run(body)
  expect(await refusal(run({ ...toBody(), prefix: body.prefix }))).toMatchObject({
    status: 412,
    property: 'prefix',
    description: `web uses the prefix ${body.prefix} on this node. Choose another prefix.`,
  })
})

describe('the inspection of an image', () => {
  const inspect = (image: string, client = testEnvironment.client) =>
    client.call('images.inspect', { params: testEnvironment.params, query: { image } })

  it('finds the registry, the tag and the exposed ports', async () => {
    expect(await inspect(`${registry.host}/shop/web:1.0`, await asUser())).toMatchObject({
      name: `${registry.host}/shop/web`,
      tag: '1.0',
      registry: { type: 'v2' },
      exists: true,
      problem: null,
      exposedPorts: [
        { internal: 80, protocol: 'tcp' },
        { internal: 9_000, protocol: 'tcp' },
      ],
    })
  })

  it('sees a tag that was pushed after it was missing', async () => {
    const image = unique('shop/late-')
    expect(await inspect(`${registry.host}/${image}`)).toMatchObject({ tag: 'latest', exists: false, exposedPorts: [] })
    await registry.push(image, 'latest', {})
    expect(await inspect(`${registry.host}/${image}`)).toMatchObject({ exists: true })
  })

  it('asks no registry that the team does not have, nor an unchecked one', async () => {
    const other = await makeDeployTestEnvironment(server)
    const query = { image: `${registry.host}/shop/web:1.0` }
    const unknown = { registry: null, exists: null, problem: null, exposedPorts: [] }
    expect(await other.client.call('images.inspect', { params: other.params, query })).toMatchObject(unknown)
    const body = { name: 'Unchecked', type: 'unchecked' as const, details: { url: registry.host } }
    await other.client.call('registries.create', { params: other.params, body })
    expect(await other.client.call('images.inspect', { params: other.params, query })).toMatchObject({
      ...unknown,
      registry: { name: 'Unchecked' },
    })
  })

  it('reports why a registry did not answer', async () => {
    await testEnvironment.registry({ url: 'localhost:9' })
    expect(await inspect('localhost:9/shop/web:1.0')).toMatchObject({
      exists: null,
      problem: expect.stringMatching(/^Could not reach the registry/),
    })
  })
})

describe('the proposal for a run', () => {
  const propose = (query: { image: string; prefix?: string; ports?: string }) =>
    testEnvironment.client.call('nodes.run-proposal', { params: { ...testEnvironment.params, nodeId: node.id }, query })

  it('has a name and a prefix that are free, and says which project uses a given one', async () => {
    const image = `${registry.host}/shop/web:1.0`
    expect(await propose({ image })).toEqual({ name: 'web', prefix: 'web', prefixUsedBy: null, ports: [] })
    await run(toBody({ prefix: 'web' }))
    expect(await propose({ image })).toMatchObject({ name: 'web 2', prefix: 'web-2' })
    expect(await propose({ image, prefix: 'web' })).toMatchObject({ prefix: 'web', prefixUsedBy: 'web' })
    expect(await propose({ image, prefix: 'we' })).toMatchObject({ prefixUsedBy: null })
  })

  it('publishes a free port as it is, and a privileged or used one from 8080 up', async () => {
    await run(toBody({ ports: [{ internal: 80, external: 8_080 }] }))
    expect((await propose({ image: 'nginx', ports: '80,9000,53/udp' })).ports).toEqual([
      { internal: 80, external: 8_081, protocol: 'tcp' },
      { internal: 9_000, external: 9_000, protocol: 'tcp' },
      { internal: 53, external: 8_080, protocol: 'udp' },
    ])
    agent.failing.clear()
    const asking = propose({ image: 'nginx', ports: '9000' })
    const asked = await agent.command('findPortHolders', 3)
    await agent.respond(asked.commandId, {
      case: 'portHolders',
      value: { holders: [{ port: { port: 9_000, protocol: 'tcp', address: '' }, containerName: '' }] },
    })
    expect((await asking).ports).toEqual([{ internal: 9_000, external: 8_081, protocol: 'tcp' }])
  })

  it('is refused for a node of another team', async () => {
    const foreign = await (await makeDeployTestEnvironment(server)).node()
    const params = { ...testEnvironment.params, nodeId: foreign.id }
    const call = testEnvironment.client.call('nodes.run-proposal', { params, query: { image: 'nginx' } })
    expect(await refusal(call)).toMatchObject({ status: 404 })
  })
})
