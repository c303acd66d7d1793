import { randomBytes } from 'node:crypto'
import type { Release } from '@crux/agent-protocol'
import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { finish } from '../../test/follow-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

let registry: Registry
let server: TestServer
let testEnvironment: DeployTestEnvironment
let registryId: string
beforeAll(async () => {
  registry = await startRegistry()
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
  registryId = await testEnvironment.registry({ url: `http://${registry.host}` })
})
afterAll(async () => {
  await server.stop()
  await registry.remove()
})

const digest = `sha256:${'0123456789ab'.padEnd(64, 'c')}`
const newName = () => `app-${randomBytes(4).toString('hex')}`

async function makeImage(reference: string, at = registryId) {
  const { projectId, versionId } = await testEnvironment.version({ images: [] })
  const params = { ...testEnvironment.params, projectId, versionId }
  const [image] = await testEnvironment.client.call('images.create', {
    params,
    body: [{ registryId: at, images: [reference] }],
  })
  const update = (tag: string) =>
    testEnvironment.client.call('images.update', { params: { ...params, imageId: image?.id ?? '' }, body: { tag } })
  return { image, params, update, version: { projectId, versionId, imageIds: [], imageConfigIds: [] } }
}

describe('an image that is pinned to a digest', () => {
  it('keeps it from the reference with which it was added, and has the labels of that digest', async () => {
    const name = newName()
    const first = await registry.push(name, '1', { labels: { 'dev.crux.env.A': 'string,default:one' } })
    await registry.push(name, '1', { labels: { 'dev.crux.env.A': 'string,default:two' } })
    const { image, params, update } = await makeImage(`${name}:1@${first}`)
    expect(image).toMatchObject({ name, tag: `1@${first}`, config: { environment: [{ key: 'A', value: 'one' }] } })
    await update(first)
    const at = { params: { ...params, imageId: image?.id ?? '' } }
    expect(await testEnvironment.client.call('images.get', at)).toMatchObject({ tag: first })
    await expect(update(`1@${first}0`)).rejects.toMatchObject({ status: 400, property: 'tag' })
  })

  it('is deployed by that digest, under its tag or one that is made of the digest', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const { version, update } = await makeImage(`${newName()}:1.2@${digest}`)
    const { id } = await testEnvironment.deployment(version, node.id)
    const preview = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: id },
    })
    expect(preview).toMatchObject({ problems: [], instances: [{ warnings: [] }] })
    await testEnvironment.start(id)
    expect((await finish(agent, 1)).instances).toMatchObject([{ imageTag: '1.2', imageDigest: digest }])
    await testEnvironment.waitForStatus(id, 'successful')
    await update(digest)
    await testEnvironment.start(id)
    expect((await finish(agent, 2)).instances).toMatchObject([{ imageTag: 'sha256-0123456789ab', imageDigest: digest }])
  })

  it('is not followed, and says why', async () => {
    const node = await testEnvironment.node()
    const { version } = await makeImage(`${newName()}:1@${digest}`)
    const { id: deploymentId } = await testEnvironment.deployment(version, node.id)
    const [instance] = (await testEnvironment.get(deploymentId)).instances
    const params = { ...testEnvironment.params, deploymentId, instanceId: instance?.id ?? '' }
    await expect(
      testEnvironment.client.call('deployments.update-instance', { params, body: { follow: 'notify' } }),
    ).rejects.toMatchObject({ status: 412, property: 'follow', message: expect.stringContaining('pinned') })
  })

  it('is refused for the engine of a node, whose images are not named by digests', async () => {
    const local = await testEnvironment.registry({ local: true })
    await expect(makeImage(`app@${digest}`, local)).rejects.toMatchObject({
      status: 400,
      property: '[0].images[0]',
      message: expect.stringContaining('node itself'),
    })
    const { update } = await makeImage('app:1', local)
    await expect(update(`1@${digest}`)).rejects.toMatchObject({ status: 400, property: 'tag' })
  })

  it('of a registry that became the engine of a node does not run by a digest or by its tag', async () => {
    const at = await testEnvironment.registry()
    const { version } = await makeImage(`app:1@${digest}`, at)
    await server.app.database.pool.query(`update crux.registry set local = true, type = 'unchecked' where id = $1`, [
      at,
    ])
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const { id } = await testEnvironment.deployment(version, node.id)
    await testEnvironment.start(id)
    const { value } = await agent.command('deploy')
    expect((value as Release).instances).toMatchObject([
      { localOnly: true, imageTag: 'sha256-0123456789ab', imageDigest: '' },
    ])
  })
})
