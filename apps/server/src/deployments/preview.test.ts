import type { MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import {
  type DeploymentEventSchema,
  LogLevel,
  Phase,
  PhaseState,
  type Release,
  type StoredImageSchema,
} from '@crux/agent-protocol'
import type { ContainerConfigPatch } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type DeployTestEnvironment,
  deployWell,
  goodNews,
  journal,
  makeDeployTestEnvironment,
  phase,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer } from '../../test/kit/index.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const at = (deploymentId: string) => ({ ...testEnvironment.params, deploymentId })
const preview = async (deploymentId: string) => {
  const { instances, ...rest } = await testEnvironment.client.call('deployments.preview', { params: at(deploymentId) })
  return { ...rest, web: instances[0] }
}
const change = (configId: string | undefined, config: ContainerConfigPatch['config']) =>
  testEnvironment.client.call('container-configurations.update', {
    params: { ...testEnvironment.params, configId: configId ?? '' },
    body: { config },
  })
const web = {
  name: 'web',
  ports: [{ internal: 80, external: 8_080 }],
  volumes: [{ name: 'data', path: '/data', type: 'rwo' as const }],
}

/** A deployment of one image that is running. */
async function deployRunning(
  images: Parameters<DeployTestEnvironment['version']>[0] = { images: [{ name: 'web', config: web }] },
) {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const version = await testEnvironment.version(images)
  const { id, prefix } = await testEnvironment.deployment(version, node.id)
  await testEnvironment.start(id)
  const release = await deployWell(agent)
  await testEnvironment.waitForStatus(id, 'successful')
  return { node, agent, id, prefix, release, configId: version.imageConfigIds[0] }
}

/** Answers the nth request for the node's store. */
async function storeHolds(agent: ScriptedAgent, nth: number, images: MessageInitShape<typeof StoredImageSchema>[]) {
  const { commandId } = await agent.command('listImages', nth)
  await agent.respond(commandId, { case: 'images', value: { images } })
}

describe('the preview of a start', () => {
  it.each([
    ['an agent says', { lines: ['stopping it'], silences: 'p-web' }, 1_234, 11_234],
    ['an agent says of one that ignored its signal', { lines: ['stopping it'], silences: 'p-web' }, 11_500, 11_500],
  ])(
    'lists the ports with a downtime, with the last measured and the longest duration, which %s',
    async (_who, line, milliseconds, maximumMilliseconds) => {
      const { agent, id, configId } = await deployRunning()
      await change(configId, { environment: [{ key: 'A', value: '1' }] })
      expect((await preview(id)).web).toMatchObject({
        action: 'replace-with-pause',
        silentPorts: [{ port: 8_080, protocol: 'tcp', milliseconds: 400, maximumMilliseconds: 10_400 }],
      })
      await testEnvironment.start(id)
      const release = (await agent.command('deploy', 2)).value as Release
      const instanceId = release.instances[0]?.instanceId ?? ''
      const began = Date.now()
      const events: MessageInitShape<typeof DeploymentEventSchema>[] = journal([
        { event: { case: 'log', value: { instanceId, level: LogLevel.INFO, ...line } } },
        phase(instanceId, Phase.START, PhaseState.DONE),
        ...goodNews(release),
      ])
      for (const event of events) event.at = timestampFromMs(event.sequence === 1n ? began : began + milliseconds)
      await agent.client.reportDeployment({ release: release.key, events })
      await testEnvironment.waitForStatus(id, 'successful')
      await change(configId, { environment: [{ key: 'A', value: '2' }] })
      expect((await preview(id)).web?.silentPorts).toEqual([
        { port: 8_080, protocol: 'tcp', milliseconds, maximumMilliseconds },
      ])
      await change(configId, { portGate: { enabled: true } })
      expect((await preview(id)).web?.silentPorts?.map(({ port }) => port)).toEqual([])
    },
  )

  it('shows where the data of a renamed or removed volume stays, and which settings have no effect on the node', async () => {
    const { id, prefix, configId } = await deployRunning()
    await change(configId, { volumes: [{ name: 'files', path: '/data', type: 'rwo' }], useLoadBalancer: true })
    expect((await preview(id)).web?.warnings).toEqual([
      { property: 'useLoadBalancer', description: 'useLoadBalancer is for Kubernetes nodes and does nothing here' },
      {
        property: 'volumes[0].name',
        description: `/data is the volume files now and starts empty: its data stays in ${prefix}/web/data of the node's data folder`,
      },
    ])
    await change(configId, { volumes: [], useLoadBalancer: null })
    expect((await preview(id)).web?.warnings).toMatchObject([{ property: 'volumes' }])
    await change(configId, { name: 'site', volumes: web.volumes })
    const renamed = await preview(id)
    expect(renamed.removed).toEqual([`${prefix}-web`])
    expect(renamed.web?.warnings?.[0]).toMatchObject({ property: 'volumes[0].name' })
    expect(renamed.web?.warnings?.[0]?.description).toContain('web becomes site')
  })

  it('reports a local image that was removed from the node', async () => {
    const registryId = await testEnvironment.registry({ local: true })
    const { agent, id } = await deployRunning({ images: [{ name: 'made-here', registryId, config: web }] })
    const there = preview(id)
    await storeHolds(agent, 1, [{ id: `sha256:${'1'.repeat(64)}`, references: ['made-here:1.0'], local: true }])
    expect((await there).web?.warnings).toEqual([])
    const gone = preview(id)
    await storeHolds(agent, 2, [])
    expect((await gone).web?.warnings).toMatchObject([{ property: 'image' }])
  })
})

describe('the preview of a start of some instances', () => {
  const api = { name: 'api', ports: [{ internal: 80, external: 9_090 }] }
  const some = async (deploymentId: string, instances: readonly string[]) =>
    testEnvironment.client.call('deployments.preview', {
      params: at(deploymentId),
      query: { instances: instances.join(',') },
    })

  it('covers only these: their downtime, their problems, and that the others stay', async () => {
    const { id, prefix } = await deployRunning({
      images: [
        { name: 'web', config: web },
        { name: 'api', config: api },
      ],
    })
    const { instances } = await testEnvironment.get(id)
    const [first, second] = instances
    await change(first?.image.config.id, { name: 'site', environment: [{ key: 'A', value: '1' }] })
    await change(second?.image.config.id, { secrets: [{ key: 'TOKEN', required: true }] })
    const all = await testEnvironment.client.call('deployments.preview', { params: at(id) })
    expect(all.problems).toMatchObject([{ instanceId: second?.id }])
    expect(all.removed).toEqual([`${prefix}-web`])

    const one = await some(id, [first?.id ?? ''])
    expect(one.problems).toEqual([])
    // The same instance under another name replaces the old one, in a partial release too.
    expect(one.removed).toEqual([`${prefix}-web`])
    expect(one.instances).toMatchObject([
      { instanceId: first?.id, containerName: 'site', silentPorts: [{ port: 8_080, protocol: 'tcp' }] },
    ])
    const other = await some(id, [second?.id ?? ''])
    expect(other).toMatchObject({ removed: [], problems: [{ instanceId: second?.id }] })
    expect(other.instances.map(({ instanceId }) => instanceId)).toEqual([second?.id])
  })

  it('warns of a port of a container that stays, and forecasts no downtime for it', async () => {
    const { id } = await deployRunning({
      images: [
        { name: 'web', config: web },
        { name: 'api', config: api },
      ],
    })
    const { instances } = await testEnvironment.get(id)
    const [first, second] = instances
    await change(first?.image.config.id, { ports: [{ internal: 80, external: 9_090 }] })
    await change(second?.image.config.id, { ports: [{ internal: 80, external: 9_091 }] })
    const [alone] = (await some(id, [first?.id ?? ''])).instances
    expect(alone?.silentPorts).toEqual([])
    expect(alone?.warnings).toEqual([
      {
        property: 'ports[0].external',
        description: 'Port 9090 is held by api, which is not part of this start: include api too, or the start fails',
      },
    ])
    const both = await some(id, [first?.id ?? '', second?.id ?? ''])
    expect(both.instances[0]).toMatchObject({ silentPorts: [{ port: 9_090 }], warnings: [] })
  })

  it('accepts only instances of the deployment, and refuses an invalid list of ids', async () => {
    const { id } = await deployRunning()
    await expect(some(id, [crypto.randomUUID()])).rejects.toMatchObject({ status: 404, property: 'instances' })
    await expect(some(id, [])).rejects.toMatchObject({ status: 400 })
    await expect(some(id, ['web'])).rejects.toMatchObject({ status: 400 })
  })
})

describe('the preview of a rollback', () => {
  const back = (id: string, number = 1, client = testEnvironment.client) =>
    client.call('deployments.preview-release', { params: { ...at(id), number } })

  it('compares with the current release: digests, configuration, removed containers', async () => {
    const { agent, id, configId, prefix } = await deployRunning()
    await change(configId, { name: 'site', environment: [{ key: 'A', value: '1' }] })
    await testEnvironment.start(id)
    await deployWell(agent, 2)
    await testEnvironment.waitForStatus(id, 'successful')
    const asked = back(id)
    await storeHolds(agent, 1, [])
    const answer = await asked
    expect(answer).toMatchObject({ problems: [], removed: [`${prefix}-site`] })
    expect(answer.instances[0]).toMatchObject({ containerName: 'web', action: 'replace-with-pause' })
    expect(answer.instances[0]?.warnings?.map(({ property }) => property)).toEqual(['image', 'volumes[0].name'])
    const same = back(id, 2)
    await storeHolds(agent, 2, [])
    expect((await same).instances[0]).toMatchObject({ action: 'keep', reason: 'Unchanged', changes: [] })
  })

  it('shows by digest that tags have moved since, also those of init containers', async () => {
    const { agent, id, release } = await deployRunning()
    const runs = async (nth: number, own: string | undefined, tool: string) => {
      await testEnvironment.start(id)
      const next = (await agent.command('deploy', nth)).value as Release
      const events = goodNews(next).map((one) => {
        if (one.event.case !== 'resolved') return one
        const preparationDigests = { 'r.example.com:5000/tool:1.36': tool }
        return {
          event: { ...one.event, value: { ...one.event.value, ...(own && { digest: own }), preparationDigests } },
        }
      })
      await agent.client.reportDeployment({ release: next.key, events: journal(events) })
      await testEnvironment.waitForStatus(id, 'successful')
    }
    await runs(2, undefined, 'sha256:then')
    await runs(3, 'sha256:moved', 'sha256:now')
    const digest = `sha256:${release.instances[0]?.instanceId.replace(/-/g, '')}`
    const held = [
      { id: `sha256:${'1'.repeat(64)}`, fetched: true, references: [`registry.example.com:5000/web@${digest}`] },
    ]
    const asked = back(id)
    await storeHolds(agent, 1, held)
    const moved = { property: 'digest', from: 'sha256:moved', to: digest }
    expect((await asked).instances[0]).toMatchObject({ action: 'replace-with-pause', changes: [moved], warnings: [] })
    const withTool = back(id, 2)
    await storeHolds(agent, 2, held)
    const [web] = (await withTool).instances
    expect(web?.changes).toEqual([
      moved,
      { property: 'digest.r.example.com:5000/tool:1.36', from: 'sha256:now', to: 'sha256:then' },
    ])
    expect(web?.warnings?.map(({ description }) => description)).toEqual([
      expect.stringMatching(/^r\.example\.com:5000\/tool:1\.36 is not on .* any more: it will be pulled again$/),
    ])
  })

  it('reports what is missing now, and what this user may not restore', async () => {
    const registryId = await testEnvironment.registry()
    const storage = await testEnvironment.client.call('storages.create', {
      params: testEnvironment.params,
      body: { name: `Files ${Date.now()}`, url: 'http://127.0.0.1:9', public: true },
    })
    const config = {
      ...web,
      volumes: [...web.volumes, { name: '/etc', path: '/host', type: 'ro' as const }],
      storage: { storageId: storage.id, bucket: 'b', path: 'data' },
    }
    const { agent, id, configId } = await deployRunning({ images: [{ name: 'web', registryId, config }] })
    await change(configId, { storage: null, volumes: web.volumes })
    await testEnvironment.client.call('storages.delete', {
      params: { ...testEnvironment.params, storageId: storage.id },
    })
    await server.app.database.pool.query('update crux.release_instance set registry_id = null where registry_id = $1', [
      registryId,
    ])
    const user = server.client(await server.addMember(testEnvironment.team, 'user'))
    const asked = back(id, 1, user)
    await storeHolds(agent, 1, [])
    const { instances, problems } = await asked
    expect(problems.map(({ property }) => property)).toEqual(['instances', 'instances[0].config.volumes[1].name'])
    expect(problems[1]).toMatchObject({ error: 'hostDangerous', instanceId: instances[0]?.instanceId })
    expect(instances[0]?.warnings?.map(({ property }) => property)).toEqual(['image', 'registry'])
    const start = user.call('deployments.start-release', { params: { ...at(id), number: 1 }, query: {} })
    await expect(start).rejects.toMatchObject({ status: 412, property: 'instances' })
  })

  it('accepts only releases of the deployment, and refuses a failed one', async () => {
    const { agent, id } = await deployRunning()
    await expect(back(id, 7)).rejects.toMatchObject({ status: 404, property: 'number' })
    await testEnvironment.start(id)
    const { value } = await agent.command('deploy', 2)
    const events = journal([{ event: { case: 'outcome', value: { successful: false, reason: 'no' } } }])
    await agent.client.reportDeployment({ release: (value as Release).key, events })
    await testEnvironment.waitForStatus(id, 'failed')
    expect((await back(id, 2)).problems).toMatchObject([{ property: 'number' }])
  })
})
