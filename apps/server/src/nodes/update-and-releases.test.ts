import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deployWell, goodNews, journal, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer
beforeAll(async () => {
  server = await startTestServer()
})
afterAll(() => server.stop())

test('an update is refused while a release is in progress, and a release that is started during an update waits for its end', async () => {
  const testEnvironment = await makeDeployTestEnvironment(server)
  const { client, params } = testEnvironment
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node, { updatable: true, version: '1.0.0-old' } as object)
  const first = await testEnvironment.deployment(await testEnvironment.version(), node.id)
  const second = await testEnvironment.deployment(await testEnvironment.version(), node.id)
  const update = () => client.call('nodes.update-agent', { params: { ...params, nodeId: node.id } })

  await testEnvironment.start(first.id)
  await agent.command('deploy')
  expect(await update().catch((error: unknown) => error)).toMatchObject({ status: 412, property: 'deployments' })
  await deployWell(agent)
  await testEnvironment.waitForStatus(first.id, 'successful')
  await update()
  const { updateId } = (await agent.command('updateAgent')).value
  const shown = await client.call('nodes.get', { params: { ...params, nodeId: node.id } })
  expect(shown).toMatchObject({ status: 'updating', agentUpdate: { state: 'preparing', fromVersion: '1.0.0-old' } })

  await testEnvironment.start(second.id)
  await server.server.deployments.leases.check()
  expect(await testEnvironment.get(second.id)).toMatchObject({ status: 'in-progress' })
  expect(agent.received.filter(({ command }) => command.case === 'deploy')).toHaveLength(1)
  await agent.client.reportUpdate({ updateId, error: 'There is no such image.' })
  const release = (await agent.command('deploy', 2)).value as Release
  expect(release.key?.deploymentId).toBe(second.id)
  await agent.client.reportDeployment({ release: release.key, events: journal(goodNews(release)) })
  await testEnvironment.waitForStatus(second.id, 'successful')
  agent.cut()
})
