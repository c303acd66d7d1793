import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const at = (id: string) => ({ params: { ...testEnvironment.params, deploymentId: id } })

it('the agent gets a hint about a deployment target as soon as a deployment is created there, and again when its start is near', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const version = await testEnvironment.version({ type: 'incremental' })
  const owner = { teamId: testEnvironment.team.id, projectId: version.projectId, nodeId: node.id }
  const deployment = await testEnvironment.deployment(version, node.id, 'one')
  expect((await agent.command('preparePrefix')).value.owner).toMatchObject({ ...owner, prefix: 'one' })
  await testEnvironment.client.call('deployments.copy', {
    ...at(deployment.id),
    body: { nodeId: node.id, prefix: 'two' },
  })
  expect((await agent.command('preparePrefix', 2)).value.owner).toMatchObject({ ...owner, prefix: 'two' })
  await testEnvironment.client.call('deployments.preview', at(deployment.id))
  expect((await agent.command('preparePrefix', 3)).value.owner).toMatchObject({ ...owner, prefix: 'one' })
})

it('the agent releases a deployment target when its last deployment is deleted, and not before', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const first = await testEnvironment.version({ name: '1.0.0' })
  const second = await testEnvironment.version({ name: '2.0.0', projectId: first.projectId })
  const one = await testEnvironment.deployment(first, node.id, 'shop')
  const two = await testEnvironment.deployment(second, node.id, 'shop')
  const remove = (id: string) => testEnvironment.client.call('deployments.delete', { ...at(id), query: {} })
  await remove(one.id)
  const moved = { note: null, prefix: 'mall', protected: false, configBundles: [] }
  await testEnvironment.client.call('deployments.update', { ...at(two.id), body: moved })
  expect((await agent.command('preparePrefix', 3)).value.owner).toMatchObject({ prefix: 'mall' })
  expect((await agent.command('releasePrefix')).value.owner).toMatchObject({
    teamId: testEnvironment.team.id,
    projectId: first.projectId,
    nodeId: node.id,
    prefix: 'shop',
  })
  await remove(two.id)
  expect((await agent.command('releasePrefix', 2)).value.owner).toMatchObject({ prefix: 'mall' })
})
