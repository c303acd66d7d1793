import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { dial } from '../../test/kit/dial.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

/** What a node accepts while its agent is updated, and how the page starts an update. The update itself is in gateway/agent-update.test.ts. */
let server: TestServer
let testEnvironment: DeployTestEnvironment
let node: Awaited<ReturnType<DeployTestEnvironment['node']>>
let agent: Awaited<ReturnType<DeployTestEnvironment['agent']>>
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())
beforeEach(async () => {
  testEnvironment = await makeDeployTestEnvironment(server)
  node = await testEnvironment.node()
  agent = await connectOldAgent(testEnvironment, node)
  return () => agent.cut()
})

const connectOldAgent = (of: DeployTestEnvironment, at: typeof node) =>
  of.agent(at, { updatable: true, version: '1.0.0-old' } as object)
const params = () => ({ ...testEnvironment.params, nodeId: node.id })
const startUpdate = () => testEnvironment.client.call('nodes.update-agent', { params: params() })
const failUpdate = async (error: string) =>
  agent.client.reportUpdate({ updateId: (await agent.command('updateAgent')).value.updateId, error })
const countReceived = (name: string, by = agent) => by.received.filter(({ command }) => command.case === name).length
const getRefusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error: unknown) => error,
  )

async function subscribe(path: string) {
  const socket = await dial(server.url, testEnvironment.owner.token)
  expect(await socket.subscribe(path)).toMatchObject({ type: 'subbed' })
  return {
    ...socket,
    send: (type: string, data: unknown) => socket.send(`${path}/${type}`, data),
    nextError: () => socket.next(({ type }) => type === 'error'),
    nextEvent: (wanted: Record<string, unknown>) =>
      socket.next(
        ({ type, data }) =>
          type === `${path}/event` &&
          Object.entries(wanted).every(([key, value]) => (data as Record<string, unknown>)[key] === value),
      ),
  }
}

test('the live message starts an update with the checks of the endpoint, and the page gets its state and its error', async () => {
  const nodes = await subscribe(`/${testEnvironment.team.slug}/nodes`)
  nodes.send('update-agent', { id: node.id })
  await agent.command('updateAgent')
  await nodes.nextEvent({ id: node.id, status: 'updating' })
  nodes.send('update-agent', { id: node.id })
  expect((await nodes.nextError()).data).toMatchObject({ status: 412, property: 'id', value: node.id })
  expect(countReceived('updateAgent')).toBe(1)
  await failUpdate('The registry has no such image')
  await nodes.nextEvent({ id: node.id, status: 'connected', error: 'The registry has no such image' })
  const entries = async () => {
    const { rows } = await server.app.database.pool.query(
      `select actor_id, accepted from crux.audit_log where team_id = $1 and event = 'node nodes.update-agent'
       order by created_at, id`,
      [testEnvironment.team.id],
    )
    return rows
  }
  const by = { actorId: testEnvironment.owner.id }
  await expect.poll(entries).toEqual([
    { ...by, accepted: true },
    { ...by, accepted: false },
  ])
  nodes.socket.close()
})

test('the live message is refused for a node of another team, whose agent gets no command', async () => {
  const other = await makeDeployTestEnvironment(server)
  const foreign = await other.node()
  const foreignAgent = await connectOldAgent(other, foreign)
  const nodes = await subscribe(`/${testEnvironment.team.slug}/nodes`)
  nodes.send('update-agent', { id: foreign.id })
  expect((await nodes.nextError()).data).toMatchObject({ status: 404, error: 'notFound', property: 'id' })
  const { rows } = await server.app.database.pool.query('select from crux.node_update where node_id = $1', [foreign.id])
  expect(rows).toEqual([])
  // The agent takes commands, so that a command of the message would have come before this one.
  await other.client.call('nodes.update-agent', { params: { ...other.params, nodeId: foreign.id } })
  await foreignAgent.command('updateAgent')
  expect(countReceived('updateAgent', foreignAgent)).toBe(1)
  foreignAgent.cut()
  nodes.socket.close()
})

test('commands to containers and the removal of images are refused while the agent is updated, and accepted again after it', async () => {
  await startUpdate()
  const { call } = testEnvironment.client
  const container = { ...params(), prefix: 'shop', name: 'web' }
  const refused = {
    status: 412,
    property: 'id',
    value: node.id,
    description: `The agent of ${node.name} is being updated: try again when the update has ended.`,
  }
  expect(await getRefusal(call('containers.start', { params: container }))).toMatchObject(refused)
  expect(await getRefusal(call('containers.stop', { params: container }))).toMatchObject(refused)
  expect(await getRefusal(call('containers.restart', { params: container }))).toMatchObject(refused)
  expect(await getRefusal(call('containers.delete', { params: container }))).toMatchObject(refused)
  expect(await getRefusal(call('containers.delete-prefix', { params: { ...params(), prefix: 'shop' } }))).toMatchObject(
    refused,
  )
  const imageIds = [`sha256:${'a'.repeat(64)}`]
  expect(await getRefusal(call('nodes.prune-images', { params: params(), body: { imageIds } }))).toMatchObject(refused)
  for (const [type, data] of [
    ['container-command', { operation: 'stop' }],
    ['delete-container', {}],
  ] as const) {
    const channel = await subscribe(`/${testEnvironment.team.slug}/nodes/${node.id}`)
    channel.send(type, { container: { prefix: 'shop', name: 'web' }, ...data })
    expect((await channel.nextError()).data).toMatchObject(refused)
    channel.socket.close()
  }
  for (const command of ['operateContainer', 'deleteContainers', 'removeImages']) expect(countReceived(command)).toBe(0)

  await failUpdate('no image')
  const started = call('containers.start', { params: container })
  await agent.respond((await agent.command('operateContainer')).commandId, { case: 'done', value: {} })
  await started
})

test('containers can be listed while the agent is updated', async () => {
  await startUpdate()
  const listed = testEnvironment.client.call('containers.list', { params: { ...params(), prefix: '_' } })
  await agent.respond((await agent.command('listContainers')).commandId, {
    case: 'containers',
    value: { containers: [] },
  })
  expect(await listed).toEqual([])
})

test('versions and projects show that the agent of a node is updated, and their containers stay until it has ended', async () => {
  const version = await testEnvironment.version()
  const { id } = await testEnvironment.deployment(version, node.id)
  await testEnvironment.start(id)
  await deployWell(agent)
  await testEnvironment.waitForStatus(id, 'successful')
  const { call } = testEnvironment.client
  const project = { ...testEnvironment.params, projectId: version.projectId }
  const listStatuses = async () => [
    ...(await call('projects.running', { params: project })).map((target) => target.node.status),
    ...(await call('versions.get', { params: { ...project, versionId: version.versionId } })).deployments.map(
      (deployment) => deployment.node.status,
    ),
  ]
  expect(await listStatuses()).toEqual(['connected', 'connected'])
  await startUpdate()
  expect(await listStatuses()).toEqual(['updating', 'updating'])
  const remove = () => call('projects.delete', { params: project, query: { containers: 'true' } })
  expect(await getRefusal(remove())).toMatchObject({
    status: 412,
    property: 'nodeId',
    value: node.id,
    description: expect.stringContaining('is being updated'),
  })
  expect(countReceived('deleteContainers')).toBe(0)
  await failUpdate('no image')
  await until(async () => (await listStatuses()).every((status) => status === 'connected'))
})
