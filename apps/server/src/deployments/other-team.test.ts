import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

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

describe('a user of another team', () => {
  it('gets not found for every request about a deployment', async () => {
    const node = await testEnvironment.node()
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    const [instance] = (await testEnvironment.get(deployment.id)).instances
    const other = await makeDeployTestEnvironment(server)
    const params = { ...other.params, deploymentId: deployment.id }
    const query = { skip: 0, take: 10 }
    const target = { nodeId: node.id, prefix: 'x' }
    const calls = [
      other.client.call('deployments.get', { params }),
      other.client.call('deployments.update', { params, body: { prefix: 'x', protected: false } }),
      other.client.call('deployments.delete', { params, query: {} }),
      other.client.call('deployments.delete', { params, query: { containers: 'true' } }),
      other.client.call('deployments.start', { params, query: {}, body: {} }),
      other.client.call('deployments.preview', { params }),
      other.client.call('deployments.cancel', { params }),
      other.client.call('deployments.copy', { params, body: target }),
      other.client.call('deployments.log', { params, query }),
      other.client.call('deployments.releases', { params }),
      other.client.call('deployments.drift', { params }),
      other.client.call('deployments.start-release', { params: { ...params, number: 1 }, query: {} }),
      other.client.call('deployments.start-release', {
        params: { ...params, number: 1 },
        query: {},
        body: { takeBackFields: true },
      }),
      other.client.call('deployments.get-instance', { params: { ...params, instanceId: instance?.id ?? '' } }),
      other.client.call('deployments.update-instance', {
        params: { ...params, instanceId: instance?.id ?? '' },
        body: { config: {} },
      }),
      other.client.call('nodes.deployments', { params: { ...other.params, nodeId: node.id } }),
      other.client.call('container-configurations.get', {
        params: { ...other.params, configId: instance?.config.id ?? '' },
      }),
      other.client.call('container-configurations.relations', {
        params: { ...other.params, configId: instance?.config.id ?? '' },
      }),
      other.client.call('container-configurations.update', {
        params: { ...other.params, configId: instance?.config.id ?? '' },
        body: { config: { tty: true } },
      }),
    ]
    for (const answer of await Promise.all(calls.map(refusal))) expect(answer.status).toBe(404)
    expect((await testEnvironment.get(deployment.id)).status).toBe('preparing')
  })
})
