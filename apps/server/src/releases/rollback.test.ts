import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  goodNews,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const refusal = (call: Promise<unknown>) =>
  call.then(
    () => 'accepted',
    (error) => `${error.status} ${error.property}`,
  )

describe('a rollback', () => {
  it('starts an earlier release by digest with its own configuration, including init containers', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const version = await testEnvironment.version({
      images: [{ name: 'web', config: { environment: [{ key: 'A', value: 'old' }] } }],
    })
    const deployment = await testEnvironment.deployment(version, node.id)
    await testEnvironment.start(deployment.id)
    const first = (await agent.command('deploy')).value as Release
    expect(first.instances[0]?.preparationDigests).toEqual({})
    const ran = { 'busybox:latest': `sha256:${'b'.repeat(64)}` }
    const news = goodNews(first).map((one) =>
      one.event.case === 'resolved'
        ? { event: { ...one.event, value: { ...one.event.value, preparationDigests: ran } } }
        : one,
    )
    await agent.client.reportDeployment({ release: first.key, events: journal(news) })
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    await testEnvironment.client.call('container-configurations.update', {
      params: { ...testEnvironment.params, configId: version.imageConfigIds[0] ?? '' },
      body: { config: { environment: [{ key: 'A', value: 'new' }] } },
    })
    await testEnvironment.start(deployment.id)
    await deployWell(agent, 2)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    const params = { ...testEnvironment.params, deploymentId: deployment.id, number: 1 }
    await testEnvironment.client.call('deployments.start-release', { params, query: {} })
    const third = (await agent.command('deploy', 3)).value as Release
    expect(third.key?.number).toBe(3)
    expect(third.instances[0]?.imageDigest).toBe(`sha256:${first.instances[0]?.instanceId.replace(/-/g, '')}`)
    expect(third.instances[0]?.preparationDigests).toEqual(ran)
    expect(third.instances[0]?.configJson).toContain('old')
    expect(
      await refusal(
        testEnvironment.client.call('deployments.start-release', { params: { ...params, number: 9 }, query: {} }),
      ),
    ).toBe('409 id')
    await agent.client.reportDeployment({ release: third.key, events: journal(badNews('no')) })
    await testEnvironment.waitForStatus(deployment.id, 'failed')
    expect(await refusal(testEnvironment.client.call('deployments.start-release', { params, query: {} }))).toBe(
      'accepted',
    )
    await until(async () => agent.received.filter((message) => message.command.case === 'deploy').length === 4)
  })
})
