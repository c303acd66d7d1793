import { FailureCode } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

type Agent = Awaited<ReturnType<DeployTestEnvironment['agent']>>
type Refusal = { status: number; property?: string; description: string }
const refusal = (call: Promise<unknown>): Promise<Refusal> =>
  call.then(
    () => Promise.reject(new Error('it was accepted')),
    (error: Refusal) => error,
  )

/** A version that runs on two nodes, under the prefix `shop`. */
async function running(options: { projectId?: string; name?: string } = {}) {
  const version = await testEnvironment.version(options)
  const nodes = [await testEnvironment.node(), await testEnvironment.node()]
  const agents: Agent[] = []
  const deployments: string[] = []
  for (const node of nodes) {
    const agent = await testEnvironment.agent(node)
    const { id } = await testEnvironment.deployment(version, node.id, 'shop')
    await testEnvironment.start(id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(id, 'successful')
    agents.push(agent)
    deployments.push(id)
  }
  const [one, two] = agents
  if (!one || !two) throw new Error('two agents were made')
  return { version, nodes, agents: [one, two] as const, deployments }
}

const project = (projectId: string) => ({ ...testEnvironment.params, projectId })
const remove = (projectId: string, containers?: 'true' | 'false', as = testEnvironment.client) =>
  as.call('projects.delete', { params: project(projectId), query: containers ? { containers } : {} })
const listRunning = (projectId: string) =>
  testEnvironment.client.call('projects.running', { params: project(projectId) })
const deletions = (agent: Agent) => agent.received.filter(({ command }) => command.case === 'deleteContainers').length
async function confirmDeletion(agent: Agent, nth = 1) {
  const { commandId, value } = await agent.command('deleteContainers', nth)
  await agent.respond(commandId, { case: 'done', value: {} })
  return value
}
async function disconnect(agent: Agent, nodeId: string) {
  agent.cut()
  await until(
    async () =>
      (await testEnvironment.client.call('nodes.get', { params: { ...testEnvironment.params, nodeId } })).status ===
      'unreachable',
  )
}

describe('deleting a project', () => {
  it('removes its containers on every node on request, and lists before where they run', async () => {
    const { version, nodes, agents } = await running()
    expect(await listRunning(version.projectId)).toEqual(
      nodes
        .toSorted((a, b) => (a.name < b.name ? -1 : 1))
        .map(({ id, name }) => ({
          node: { id, name, status: 'connected' },
          prefix: 'shop',
          versionName: '1.0.0',
          containers: ['shop-web'],
        })),
    )
    const member = server.client(await server.addMember(testEnvironment.team, 'user'))
    const removed = remove(version.projectId, 'true', member)
    for (const [index, agent] of agents.entries())
      expect(await confirmDeletion(agent)).toMatchObject({
        owner: {
          teamId: testEnvironment.team.id,
          projectId: version.projectId,
          nodeId: nodes[index]?.id,
          prefix: 'shop',
        },
        scope: { teamId: testEnvironment.team.id, nodeId: nodes[index]?.id },
      })
    await removed
    expect(await refusal(listRunning(version.projectId))).toMatchObject({ status: 404 })
    const events = await testEnvironment.client.call('nodes.audit', {
      params: { ...testEnvironment.params, nodeId: nodes[0]?.id ?? '' },
      query: { skip: 0, take: 10, from: '2020-01-01T00:00:00Z', to: '2100-01-01T00:00:00Z' },
    })
    expect(events.items[0]).toMatchObject({
      event: 'containerCommand',
      data: { operation: 'deleteContainers', prefix: 'shop' },
    })
    const audit = await server.app.database.pool.query<{ data: unknown }>(
      `select data from crux.audit_log where team_id = $1 and event like '%projects.delete' and accepted order by created_at desc limit 1`,
      [testEnvironment.team.id],
    )
    expect(audit.rows[0]?.data).toMatchObject({
      removedContainers: [{ prefix: 'shop', containers: ['shop-web'] }, { prefix: 'shop' }],
    })
    // The network that was created ahead of a start is removed too.
    await agents[0].command('releasePrefix')
  })

  it('keeps the containers for clients that do not request their removal', async () => {
    const { version, agents } = await running()
    await remove(version.projectId)
    expect(agents.map(deletions)).toEqual([0, 0])
  })

  it('removes nothing while one of its nodes is not connected, and names the node', async () => {
    const { version, nodes, agents } = await running()
    await disconnect(agents[1], nodes[1]?.id ?? '')
    const refused = await refusal(remove(version.projectId, 'true'))
    expect(refused).toMatchObject({ status: 412, property: 'nodeId', value: nodes[1]?.id })
    expect(refused.description).toContain(`${nodes[1]?.name} is not connected`)
    expect(deletions(agents[0])).toBe(0)
    expect(await listRunning(version.projectId)).toHaveLength(2)
    await remove(version.projectId, 'false')
  })

  it('reports what was removed and what was not when an agent fails, keeps the records, and can be repeated', async () => {
    const { version, nodes, agents } = await running()
    const removed = refusal(remove(version.projectId, 'true'))
    await confirmDeletion(agents[0])
    const { commandId } = await agents[1].command('deleteContainers')
    await agents[1].respond(commandId, {
      case: 'failure',
      value: { code: FailureCode.REFUSED, message: 'the disk is full' },
    })
    const refused = await removed
    expect(refused).toMatchObject({ status: 412, property: 'containers' })
    expect(refused.description).toContain(`Removed: shop on ${nodes[0]?.name}.`)
    expect(refused.description).toMatch(new RegExp(`^Not removed: shop on ${nodes[1]?.name} \\(.*disk is full`, 'i'))
    expect((await listRunning(version.projectId)).map(({ node }) => node.id)).toEqual([nodes[1]?.id])
    const again = remove(version.projectId, 'true')
    await confirmDeletion(agents[1], 2)
    await again
    expect(deletions(agents[0])).toBe(1)
  })

  it('removes nothing while a deployment is in progress', async () => {
    const { version, agents, deployments } = await running()
    await testEnvironment.start(deployments[0] ?? '')
    expect(await refusal(remove(version.projectId, 'true'))).toMatchObject({ status: 412, property: 'id' })
    expect(agents.map(deletions)).toEqual([0, 0])
  })

  it('reports removed containers when a deployment started in the meantime', async () => {
    const { version, agents, deployments } = await running()
    const removed = refusal(remove(version.projectId, 'true'))
    await agents[1].command('deleteContainers')
    await testEnvironment.start(deployments[0] ?? '')
    for (const agent of agents) await confirmDeletion(agent)
    const refused = await removed
    expect(refused).toMatchObject({ status: 412, property: 'id' })
    expect(refused.description).toMatch(/in progress.*The containers that ran before are removed: shop on .*, shop on /)
  })

  it('sends no requests to agents of another team or project', async () => {
    const { version, agents } = await running()
    const other = await makeDeployTestEnvironment(server)
    const params = { ...other.params, projectId: version.projectId }
    const versionParams = { ...params, versionId: version.versionId }
    for (const answer of [
      other.client.call('projects.running', { params }),
      other.client.call('projects.delete', { params, query: { containers: 'true' } }),
      other.client.call('versions.running', { params: versionParams }),
      other.client.call('versions.delete', { params: versionParams, query: { containers: 'true' } }),
    ].map(refusal))
      expect(await answer).toMatchObject({ status: 404 })
    expect(agents.map(deletions)).toEqual([0, 0])
  })
})

describe('deleting a version', () => {
  const at = (version: { projectId: string; versionId: string }) => ({ ...testEnvironment.params, ...version })

  it('removes the containers of this version alone', async () => {
    const first = await running()
    const second = await running({ projectId: first.version.projectId, name: '2.0.0' })
    const { projectId, versionId } = first.version
    const params = at({ projectId, versionId })
    expect(
      (await testEnvironment.client.call('versions.running', { params })).map(({ node }) => node.id).toSorted(),
    ).toEqual(first.nodes.map(({ id }) => id).toSorted())
    const removed = testEnvironment.client.call('versions.delete', { params, query: { containers: 'true' } })
    for (const agent of first.agents) await confirmDeletion(agent)
    await removed
    expect(second.agents.map(deletions)).toEqual([0, 0])
    expect((await listRunning(projectId)).map(({ versionName }) => versionName)).toEqual(['2.0.0', '2.0.0'])
  })

  it('removes nothing where the version cannot be deleted, or another version takes the containers over', async () => {
    const { version, nodes, agents } = await running()
    const { pool } = server.app.database
    const params = at({ projectId: version.projectId, versionId: version.versionId })
    const asked = () =>
      refusal(testEnvironment.client.call('versions.delete', { params, query: { containers: 'true' } }))
    const next = await testEnvironment.version({ projectId: version.projectId, name: '2.0.0' })
    await testEnvironment.start((await testEnvironment.deployment(next, nodes[0]?.id ?? '', 'shop')).id)
    expect(await asked()).toMatchObject({
      status: 412,
      property: 'status',
      description: expect.stringContaining('2.0.0'),
    })
    await pool.query(`update crux.version set type = 'incremental' where id = $1`, [version.versionId])
    expect(await asked()).toMatchObject({ status: 412, property: 'versionId' })
    expect(agents.map(deletions)).toEqual([0, 0])
  })
})
