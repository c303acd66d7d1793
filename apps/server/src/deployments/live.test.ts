import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import type { DeploymentEvent } from '@crux/contract'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  goodNews,
  journal,
  makeDeployTestEnvironment,
  phase,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

async function look(deploymentId: string) {
  const channel = server.live(testEnvironment.owner).channel('deployment', { ...testEnvironment.params, deploymentId })
  const lists: DeploymentEvent[][] = []
  const others: { type: string; data: unknown }[] = []
  channel.on('deployment-event-list', (events) => void lists.push(events))
  for (const type of ['instances-added', 'instance-deleted'] as const)
    channel.on(type, (data) => void others.push({ type, data }))
  await until(() => channel.status === 'subscribed')
  return { channel, lists, others, events: () => lists.flat() }
}

describe('the live channel of a deployment', () => {
  it('sends every event once and in order to all subscribers', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    const pages = [await look(deployment.id), await look(deployment.id)]
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const events = journal(goodNews(release))
    for (const event of events) await agent.client.reportDeployment({ release: release.key, events: [event] })
    for (const page of pages) {
      await until(() => page.events().some((event) => event.deploymentStatus === 'successful'))
      const sequences = page.events().map((event) => event.sequence)
      expect(sequences).toEqual([...new Set(sequences)].sort((a, b) => a - b))
      expect(page.events().map((event) => event.type)).toEqual([
        'deployment-status',
        'log',
        'phase',
        'phase',
        'deployment-status',
      ])
    }
  })

  it('answers a fetch with the newest attempt alone', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    const first = (await agent.command('deploy')).value as Release
    await agent.client.reportDeployment({ release: first.key, events: journal(badNews('first')) })
    await testEnvironment.waitForStatus(deployment.id, 'failed')
    await testEnvironment.start(deployment.id)
    const second = (await agent.command('deploy', 2)).value as Release
    const page = await look(deployment.id)
    page.channel.send('fetch-deployment-events', {})
    const [list] = await until(() => (page.lists.length > 0 ? page.lists : undefined))
    expect(list?.map((event) => [event.try, event.type])).toEqual([
      [2, 'deployment-status'],
      [2, 'log'],
    ])
    await agent.client.reportDeployment({ release: second.key, events: journal(goodNews(second)) })
    await until(() => page.events().some((event) => event.deploymentStatus === 'successful'))
    page.channel.send('fetch-deployment-events', {})
    const whole = await until(() => page.lists.find((events) => events.length === 5))
    expect(whole.every((event) => event.try === 2)).toBe(true)
  })

  it('notifies subscribers of the older version that it is obsolete', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const old = await testEnvironment.version({ type: 'incremental' })
    const next = await testEnvironment.version({
      type: 'incremental',
      name: '1.1.0',
      projectId: old.projectId,
      parentId: old.versionId,
    })
    const [before, after] = [
      await testEnvironment.deployment(old, node.id, 'o'),
      await testEnvironment.deployment(next, node.id, 'o'),
    ]
    await testEnvironment.start(before.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(before.id, 'successful')
    const page = await look(before.id)
    await testEnvironment.start(after.id)
    await deployWell(agent, 2)
    const event = await until(() => page.events().find((one) => one.deploymentStatus === 'obsolete'))
    expect(event.reason).toBe('replaced by 1.1.0')
  })

  it('keeps only the last step of a long pull once the release has ended', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    const page = await look(deployment.id)
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const instanceId = release.instances[0]?.instanceId ?? ''
    const steps = [10n, 60n, 100n].map((currentBytes) => ({
      event: { case: 'progress' as const, value: { instanceId, currentBytes, totalBytes: 100n, status: 'Pulling' } },
    }))
    const log = {
      event: {
        case: 'log' as const,
        value: { instanceId, level: 3, lines: ['zero \u0000 byte', '\\u0000'], fromContainer: true },
      },
    }
    await agent.client.reportDeployment({
      release: release.key,
      events: journal([...steps, log, phase(instanceId, Phase.PULL, PhaseState.DONE)]),
    })
    await until(() => page.events().filter((event) => event.type === 'container-progress').length === 3)
    expect(page.events().find((event) => event.containerProgress)?.containerProgress).toEqual({
      instanceId,
      status: 'Pulling',
      progress: 0.1,
      currentBytes: 10,
      totalBytes: 100,
    })
    await agent.client.reportDeployment({ release: release.key, events: journal(goodNews(release), 6) })
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    const stored = await testEnvironment.events(deployment.id)
    expect(
      stored.filter((event) => event.type === 'container-progress').map((event) => event.containerProgress?.progress),
    ).toEqual([1])
    expect(stored.find((event) => event.log?.fromContainer)?.log).toEqual({
      log: ['zero  byte', '\\u0000'],
      level: 'error',
      fromContainer: true,
    })
  })

  it('shows added and removed images', async () => {
    const version = await testEnvironment.version()
    const deployment = await testEnvironment.deployment(version, (await testEnvironment.node()).id)
    const page = await look(deployment.id)
    const [instance] = (await testEnvironment.get(deployment.id)).instances
    server.app.bus.publish({ type: 'images.added', versionId: version.versionId, imageIds: version.imageIds })
    server.app.bus.publish({
      type: 'image.deleted',
      versionId: version.versionId,
      imageId: version.imageIds[0] ?? '',
      instances: [{ deploymentId: deployment.id, instanceId: instance?.id ?? '', configId: instance?.config.id ?? '' }],
    })
    await until(() => page.others.length === 2)
    expect(page.others).toMatchObject(
      expect.arrayContaining([
        {
          type: 'instances-added',
          data: [expect.objectContaining({ id: instance?.id, configId: instance?.config.id })],
        },
        { type: 'instance-deleted', data: { instanceId: instance?.id, configId: instance?.config.id } },
      ]),
    )
  })
})
