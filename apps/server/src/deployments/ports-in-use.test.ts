import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const withPort = (external: number) =>
  testEnvironment.version({ images: [{ name: 'web', config: { ports: [{ internal: 80, external }] } }] })
const findProblems = async (deploymentId: string) =>
  (await testEnvironment.client.call('deployments.preview', { params: { ...testEnvironment.params, deploymentId } }))
    .problems

/** A node with a deployment that holds a port, and another one that needs it. */
async function setUp(external: number) {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const holder = await testEnvironment.deployment(await withPort(external), node.id)
  await testEnvironment.start(holder.id)
  await deployWell(agent)
  await testEnvironment.waitForStatus(holder.id, 'successful')
  const next = await testEnvironment.deployment(await withPort(external), node.id)
  agent.failing.clear()
  return { node, agent, holder, next }
}

describe('a preview with a port in use', () => {
  it('names a deployment of the node that holds it by the records, if the agent does not answer', async () => {
    const { node, holder, next } = await setUp(18_001)
    const problems = await findProblems(next.id)
    expect(problems).toEqual([
      {
        property: 'instances[0].config.ports[0].external',
        error: 'portInUse',
        description: expect.stringMatching(
          new RegExp(
            `^web: Port 18001 is used by ${holder.prefix}-web of shop \\w+ on ${node.name}\\. Choose another port, or stop ${holder.prefix}-web first\\.$`,
          ),
        ),
        instanceId: expect.any(String),
      },
    ])
    expect(await findProblems(holder.id)).toEqual([])
  })

  it("prefers the agent's answer to the records, and does not name containers of others", async () => {
    const { node, agent, holder, next } = await setUp(18_002)
    const asking = findProblems(next.id)
    const asked = await agent.command('findPortHolders')
    expect(asked.value).toMatchObject({
      owner: { nodeId: node.id, prefix: next.prefix },
      ports: [{ port: 18_002, protocol: 'tcp', address: '' }],
    })
    await agent.respond(asked.commandId, {
      case: 'portHolders',
      value: { holders: [{ port: { port: 18_002, protocol: 'tcp', address: '' }, containerName: '' }] },
    })
    expect(await asking).toMatchObject([
      {
        error: 'portInUse',
        description: `web: Port 18002 is used by something else on ${node.name}. Choose another port.`,
      },
    ])
    const again = findProblems(next.id)
    const { commandId } = await agent.command('findPortHolders', 2)
    await agent.respond(commandId, { case: 'portHolders', value: { holders: [] } })
    expect(await again).toEqual([])
    expect(holder.prefix).not.toBe(next.prefix)
  })
})
