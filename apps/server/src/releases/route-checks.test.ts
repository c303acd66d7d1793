import type { Release } from '@crux/agent-protocol'
import { ApiError } from '@crux/client'
import type { ContainerConfigFields } from '@crux/contract'
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

type Instance = { name?: string; domain: string; path?: string }
const getImage = ({ name = 'web', domain, path }: Instance) => ({
  name,
  config: { name, expose: 'expose', routing: { domain, path } } satisfies ContainerConfigFields,
})
const getDeployment = async (nodeId: string, ...instances: Instance[]) =>
  testEnvironment.deployment(await testEnvironment.version({ images: instances.map(getImage) }), nodeId)

/** A node with one running deployment that has these routes. */
async function nodeWith(...instances: Instance[]) {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const holder = await getDeployment(node.id, ...instances)
  await testEnvironment.start(holder.id)
  const release: Release = await deployWell(agent)
  await testEnvironment.waitForStatus(holder.id, 'successful')
  return { node, agent, holder, release }
}

const getDetails = async (work: Promise<unknown>) => {
  try {
    await work
    return 'started'
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return { status: error.status, details: error.details }
  }
}

describe('a start with routes', () => {
  it.each([
    ['the same host name', 'App.Example.com', undefined, 'app.example.com/'],
    ['a longer path below it', 'app.example.com', '/steal/this', 'app.example.com/steal/this'],
    ['a wildcard over it', '*.example.com', undefined, '*.example.com/'],
  ])('is refused for %s that another prefix routes on the node', async (_, domain, path, route) => {
    const { node, holder } = await nodeWith({ domain: 'app.example.com' })
    const { id } = await getDeployment(node.id, { domain: 'free.example.net' }, { name: 'api', domain, path })
    const details = [
      {
        property: 'instances[1].config.routing.domain',
        error: 'routeInUse',
        description: `api: ${route} is in use on this node by ${holder.prefix}-web: choose another host name or path`,
      },
    ]
    expect(await getDetails(testEnvironment.start(id))).toEqual({ status: 412, details })
    const { problems } = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: id },
    })
    expect(problems).toEqual(details.map((detail) => ({ ...detail, instanceId: expect.any(String) })))
  })

  it('is refused while a release in progress will have the same route', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const first = await getDeployment(node.id, { domain: 'app.example.com' })
    await testEnvironment.start(first.id)
    await agent.command('deploy')
    const second = await getDeployment(node.id, { domain: 'app.example.com' })
    expect(await getDetails(testEnvironment.start(second.id))).toMatchObject({ status: 412 })
  })

  it('is allowed with another path, on another node, and for the same prefix again', async () => {
    const { node, agent, holder } = await nodeWith({ domain: 'app.example.com', path: '/a' })
    await testEnvironment.start(holder.id)
    await deployWell(agent, 2)
    const beside = await getDeployment(node.id, { domain: 'app.example.com', path: '/b' })
    expect(await getDetails(testEnvironment.start(beside.id))).toBe('started')
    const elsewhere = await testEnvironment.node()
    await testEnvironment.agent(elsewhere)
    const other = await getDeployment(elsewhere.id, { domain: 'app.example.com', path: '/a' })
    expect(await getDetails(testEnvironment.start(other.id))).toBe('started')
  })

  it.each(['localhost', 'LOCALHOST'])('is refused for the host name of Crux with any path: %s', async (domain) => {
    const node = await testEnvironment.node()
    await testEnvironment.agent(node)
    const { id } = await getDeployment(node.id, { domain, path: '/anything' })
    expect(await getDetails(testEnvironment.start(id))).toMatchObject({
      status: 412,
      details: [{ error: 'routeInUse', description: expect.stringContaining('is the host name of Crux itself') }],
    })
  })

  it('is refused for two instances with the same host name and path', async () => {
    const node = await testEnvironment.node()
    await testEnvironment.agent(node)
    const { id } = await getDeployment(
      node.id,
      { domain: 'a.example' },
      { name: 'api', domain: 'b.example, A.example' },
    )
    expect(await getDetails(testEnvironment.start(id))).toMatchObject({
      status: 400,
      details: [{ property: 'instances[1].config.routing.domain', error: 'routesAreUnique' }],
    })
  })
})
