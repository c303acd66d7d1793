import { randomBytes } from 'node:crypto'
import type { ContainerConfigFields, Image } from '@crux/contract'
import { type Registry, startRegistry } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { withLabelRules } from './label-rules.ts'

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

async function emptyVersion() {
  const { projectId, versionId } = await testEnvironment.version({ type: 'incremental', images: [] })
  return { ...testEnvironment.params, projectId, versionId }
}
async function push(labels: Record<string, string>, name = `app-${randomBytes(3).toString('hex')}`, tag = '1') {
  await registry.push(name, tag, { labels })
  return name
}
const getRows = ({ environment, secrets }: ContainerConfigFields) => ({
  environment: environment?.map(({ key, value }) => `${key}=${value}`),
  secrets: secrets?.map(({ key, required }) => (required ? `${key}!` : key)),
})

describe('rules in the labels of an image', () => {
  it('become variables and keys when it is added, in the response and on open pages', async () => {
    const params = await emptyVersion()
    const name = await push({
      'org.dyrectorio.env.LOG_LEVEL': 'string,default:info',
      'dev.crux.env.WORKERS': 'int,required',
      'dev.crux.env.PASSWORD': 'string,secret,required',
      'dev.crux.env.VERBOSE': 'boolean',
      'dev.crux.env.BROKEN': 'number',
    })
    const channel = server.live(testEnvironment.owner).channel('version', params)
    const received: ContainerConfigFields[] = []
    channel.on('images-added', ({ images }) => void received.push(...images.map(({ config }) => config)))
    await until(() => channel.status === 'subscribed')
    const [image] = await testEnvironment.client.call('images.create', {
      params,
      body: [{ registryId, images: [`${name}:1`] }],
    })
    const expected = { environment: ['LOG_LEVEL=info', 'WORKERS='], secrets: ['PASSWORD!'] }
    expect(getRows(image?.config ?? {})).toMatchObject({
      environment: expect.arrayContaining(expected.environment),
      secrets: expected.secrets,
    })
    expect(image?.config.environment?.every(({ id }) => id)).toBe(true)
    await until(() => received.length > 0)
    expect(getRows(received[0] ?? {})).toEqual(getRows(image?.config ?? {}))
  })

  it('are merged when the tag changes: existing values win, new ones are added, and open pages see them', async () => {
    const params = await emptyVersion()
    const name = await push({ 'dev.crux.env.A': 'string,default:one' })
    await push({ 'dev.crux.env.A': 'string,default:two', 'dev.crux.env.B': 'int,required' }, name, '2')
    const [image] = await testEnvironment.client.call('images.create', {
      params,
      body: [{ registryId, images: [`${name}:1`] }],
    })
    const imageId = image?.id ?? ''
    const configId = image?.config.id ?? ''
    const page = server
      .live(testEnvironment.owner)
      .channel('container-configuration', { ...testEnvironment.params, configId })
    const patches: unknown[] = []
    page.on('config-updated', () => void patches.push(true))
    const version = server.live(testEnvironment.owner).channel('version', params)
    const images: Image[] = []
    version.on('image', (image) => void images.push(image))
    version.on('image-tag-updated', ({ imageId: id }) => version.send('get-image', { id }))
    await until(() => page.status === 'subscribed' && version.status === 'subscribed')
    await testEnvironment.client.call('images.update', { params: { ...params, imageId }, body: { tag: '2' } })
    const after = await testEnvironment.client.call('images.get', { params: { ...params, imageId } })
    expect(getRows(after.config).environment).toEqual(['A=one', 'B='])
    await until(() => patches.length > 0 && images.length > 0)
    expect(images[0]).toMatchObject({ id: imageId, tag: '2', labels: { 'dev.crux.env.B': 'int,required' } })
    expect(getRows(images[0]?.config ?? {}).environment).toEqual(['A=one', 'B='])
    // A tag that does not exist keeps the known labels.
    await testEnvironment.client.call('images.update', { params: { ...params, imageId }, body: { tag: 'none' } })
    expect(await testEnvironment.client.call('images.get', { params: { ...params, imageId } })).toMatchObject({
      tag: 'none',
      config: { revision: after.config.revision },
    })
  })

  it('are checked at the start, each at its place, and broken ones are reported without blocking it', async () => {
    const params = await emptyVersion()
    const name = await push({
      'dev.crux.env.A': 'int,required',
      'dev.crux.env.TOKEN': 'string,secret,required',
      'dev.crux.env.BROKEN': 'number',
    })
    const [image] = await testEnvironment.client.call('images.create', {
      params,
      body: [{ registryId, images: [`${name}:1`] }],
    })
    const configId = image?.config.id ?? ''
    const node = await testEnvironment.node()
    await testEnvironment.agent(node)
    const { id } = await testEnvironment.deployment({ ...params, imageIds: [], imageConfigIds: [] }, node.id)
    const change = (config: ContainerConfigFields) =>
      testEnvironment.client.call('container-configurations.update', {
        params: { ...testEnvironment.params, configId },
        body: { config },
      })
    await expect(testEnvironment.start(id)).rejects.toMatchObject({
      status: 400,
      property: 'instances[0].config.environment[0].value',
      details: [{ error: 'instanceLabelRules' }],
    })
    await change({ environment: [{ key: 'A', value: 'many' }], secrets: [] })
    const asked = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: id },
    })
    expect(asked.problems).toMatchObject([
      { property: 'instances[0].config.environment[0].value', error: 'instanceLabelRules' },
      { property: 'instances[0].config.secrets.TOKEN', error: 'instanceLabelRules' },
    ])
    expect(asked.problems.every(({ instanceId }) => instanceId === asked.instances[0]?.instanceId)).toBe(true)
    expect(asked.instances[0]?.warnings).toMatchObject([
      { property: 'labels', description: expect.stringContaining('dev.crux.env.BROKEN') },
    ])
    await change({ environment: [{ key: 'A', value: '4' }], secrets: [{ key: 'TOKEN', required: true }] })
    // The remaining problem is a secret without a value, as in every other configuration.
    await expect(testEnvironment.start(id)).rejects.toMatchObject({
      status: 412,
      details: [{ error: 'missingSecret' }],
    })
  })

  it('are left out if they would make the configuration invalid', () => {
    const labels = {
      'dev.crux.env.GOOD': 'string,required',
      'dev.crux.env.LONG': `string,default:${'x'.repeat(200_000)}`,
    }
    expect(getRows(withLabelRules({}, labels)).environment).toEqual(['GOOD='])
    const fields = { environment: [{ key: 'GOOD', value: '1' }] }
    expect(withLabelRules(fields, labels)).toBe(fields)
  })
})
