import { afterAll, beforeAll, expect, it } from 'vitest'
import { type DeployWorld, deployWell, makeDeployWorld } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let server: TestServer
let world: DeployWorld
beforeAll(async () => {
  server = await startTestServer()
  world = await makeDeployWorld(server)
})
afterAll(() => server.stop())

const problemsOf = async (deploymentId: string) =>
  (await world.client.call('deployments.preview', { params: { ...world.params, deploymentId } })).problems

it('a preview names the project whose container has the name that a container would get', async () => {
  const node = await world.node()
  const agent = await world.agent(node)
  const images = [{ name: 'web' }, { name: 'api' }]
  const first = await world.version({ images: images.slice(0, 1) })
  const holder = await world.deployment(first, node.id)
  await world.start(holder.id)
  await deployWell(agent)
  await world.statusEvent(holder.id, 'successful')
  const next = await world.deployment(await world.version({ images }), node.id, holder.prefix)
  expect(await problemsOf(next.id)).toEqual([
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
  expect(await problemsOf(holder.id)).toEqual([])
})
