import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const findProblems = async (deploymentId: string) =>
  (await testEnvironment.client.call('deployments.preview', { params: { ...testEnvironment.params, deploymentId } }))
    .problems

it('a preview names the project that already has a container of the same name', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const images = [{ name: 'web' }, { name: 'api' }]
  const first = await testEnvironment.version({ images: images.slice(0, 1) })
  const holder = await testEnvironment.deployment(first, node.id)
  await testEnvironment.start(holder.id)
  await deployWell(agent)
  await testEnvironment.waitForStatus(holder.id, 'successful')
  const next = await testEnvironment.deployment(await testEnvironment.version({ images }), node.id, holder.prefix)
  expect(await findProblems(next.id)).toEqual([
    {
      property: 'instances[0].config.name',
      error: 'containerNameInUse',
      description: expect.stringMatching(
        new RegExp(
          `^web: shop \\w+ has a container ${holder.prefix}-web on ${node.name}\\. Name this one differently, or choose another prefix\\.$`,
        ),
      ),
      instanceId: expect.any(String),
    },
  ])
  expect(await findProblems(holder.id)).toEqual([])
})
