import { randomUUID } from 'node:crypto'
import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { formatDuration, releaseDurationMs } from '@crux/rules'
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
import { startTestServer, type TestServer } from '../../test/kit/index.ts'

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
const sqlCount = async (text: string, values: unknown[]) =>
  (await server.app.database.pool.query(text, values)).rows[0].n

describe('a release', () => {
  it('goes from the start to the agent and back to successful', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const registryId = await testEnvironment.registry({
      url: 'https://r.example.com:5000/',
      user: 'ada',
      token: 'pass word',
    })
    const version = await testEnvironment.version({
      images: [
        { name: 'db', config: { environment: [{ key: 'V', value: '{{versionName}}' }] } },
        { name: 'group/web', tag: '2.0', registryId },
      ],
    })
    const deployment = await testEnvironment.deployment(version, node.id, 'shop')
    await testEnvironment.start(deployment.id)
    const { value } = await agent.command('deploy')
    const release = value as Release
    expect(release).toMatchObject({
      key: { deploymentId: deployment.id, number: 1 },
      owner: { teamId: testEnvironment.team.id, nodeId: node.id, prefix: 'shop', projectId: version.projectId },
      partial: false,
      hostDangerousAllowed: true,
      observationWindowMs: 1000,
      previous: [],
    })
    expect(release.instances.map((one) => [one.imageName, one.imageTag, one.imageDigest])).toEqual([
      ['registry.example.com:5000/db', '1.0', ''],
      ['r.example.com:5000/group/web', '2.0', ''],
    ])
    expect(release.instances[1]?.registryAuth).toMatchObject({
      serverAddress: 'r.example.com:5000',
      username: 'ada',
      password: 'pass word',
    })
    expect(JSON.parse(release.instances[0]?.configJson ?? '')).toMatchObject({
      name: 'db',
      environment: [{ key: 'V', value: '1.0.0' }],
    })
    expect(await testEnvironment.get(deployment.id)).toMatchObject({
      status: 'in-progress',
      progress: { done: 0, total: 2 },
    })

    await agent.client.reportDeployment({ release: release.key, events: journal(goodNews(release)) })
    const done = await testEnvironment.waitForStatus(deployment.id, 'successful')
    expect(done).toMatchObject({
      lastTry: 1,
      running: { deploymentId: deployment.id, number: 1, versionName: '1.0.0' },
    })
    const [listed] = await testEnvironment.releases(deployment.id)
    const tookMs = listed && releaseDurationMs(listed)
    expect(done.outcome, 'the outcome and the list of releases say one duration').toBe(
      `2 images, ${formatDuration(tookMs ?? Number.NaN)}`,
    )
    expect(await testEnvironment.releases(deployment.id)).toMatchObject(
      [
        {
          number: 1,
          status: 'successful',
          current: true,
          startedBy: { name: 'Ada' },
          instances: [{ digest: /^sha256:/ }, {}],
        },
      ].map((one) => ({ ...one, instances: [{ digest: expect.stringMatching(/^sha256:/) }, {}] })),
    )
    expect(
      (await testEnvironment.events(deployment.id)).map(
        (event) => event.deploymentStatus ?? event.phase?.phase ?? event.log?.log[0],
      ),
    ).toEqual(['in-progress', 'Started by Ada', 'pull', 'verify', 'pull', 'verify', 'successful'])
  })

  it('never stores the credentials of a registry', async () => {
    expect(
      await sqlCount(`select count(*)::int as n from crux.release_instance where config::text like '%pass word%'`, []),
    ).toBe(0)
  })

  it('stores a repeated batch only once', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const events = journal(goodNews(release))
    const first = await agent.client.reportDeployment({ release: release.key, events: events.slice(0, 2) })
    expect(first.acknowledgedSequence).toBe(2n)
    for (let again = 0; again < 3; again++) {
      const answer = await agent.client.reportDeployment({ release: release.key, events })
      expect(answer.acknowledgedSequence).toBe(4n)
    }
    expect(
      await sqlCount('select count(*)::int as n from crux.deployment_event where deployment_id = $1', [deployment.id]),
    ).toBe(5)
  })

  it('acknowledges events of unknown releases or another node’s, and stores none of them', async () => {
    const [mine, other] = [await testEnvironment.node(), await testEnvironment.node()]
    const [agent, foreign] = [await testEnvironment.agent(mine), await testEnvironment.agent(other)]
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), mine.id)
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const stolen = await foreign.client.reportDeployment({ release: release.key, events: journal(goodNews(release)) })
    expect(stolen.acknowledgedSequence).toBe(4n)
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    const unknown = await agent.client.reportDeployment({
      release: { deploymentId: randomUUID(), number: 1 },
      events: journal(badNews('x')),
    })
    expect(unknown.acknowledgedSequence).toBe(1n)
  })

  it('fails with the agent’s reason, shows what still runs, and can be deployed again', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    await testEnvironment.start(deployment.id)
    const second = (await agent.command('deploy', 2)).value as Release
    expect(second.previous).toMatchObject([{ containerName: `${deployment.prefix}-web`, release: { number: 1 } }])
    await agent.client.reportDeployment({
      release: second.key,
      events: journal(badNews('port 8443 is taken by ops-nginx')),
    })
    const failed = await testEnvironment.waitForStatus(deployment.id, 'failed')
    expect(failed).toMatchObject({
      outcome: 'port 8443 is taken by ops-nginx',
      running: { number: 1 },
      deployable: true,
    })
    expect((await testEnvironment.events(deployment.id)).at(-1)).toMatchObject({
      reason: 'port 8443 is taken by ops-nginx. Release 1 keeps answering.',
      previousRestored: true,
    })
    await testEnvironment.start(deployment.id)
    await deployWell(agent, 3)
    expect(await testEnvironment.waitForStatus(deployment.id, 'successful')).toMatchObject({ running: { number: 3 } })
  })

  it('counts verified images while it is in progress', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version({ images: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] }),
      node.id,
    )
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const [a, b] = release.instances.map((one) => one.instanceId)
    await agent.client.reportDeployment({
      release: release.key,
      events: journal([
        phase(a ?? '', Phase.VERIFY, PhaseState.DONE),
        phase(b ?? '', Phase.VERIFY, PhaseState.RUNNING),
      ]),
    })
    expect((await testEnvironment.get(deployment.id)).progress).toEqual({ done: 1, total: 3 })
    const list = await testEnvironment.client.call('deployments.list', {
      params: testEnvironment.params,
      query: { skip: 0, take: 10, status: 'in-progress' },
    })
    expect(list.items.find((one) => one.id === deployment.id)?.progress).toEqual({ done: 1, total: 3 })
  })
})

describe('concurrent starts of one deployment', () => {
  it('succeed for one and are refused for the others', async () => {
    const node = await testEnvironment.node()
    await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    const answers = await Promise.all([1, 2, 3, 4].map(() => refusal(testEnvironment.start(deployment.id))))
    expect(answers.sort()).toEqual(['409 id', '409 id', '409 id', 'accepted'])
    expect((await testEnvironment.get(deployment.id)).lastTry).toBe(1)
  })
})

describe('cancelling a deployment', () => {
  it('ends a waiting release at once', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const [first, second] = [
      await testEnvironment.deployment(await testEnvironment.version(), node.id, 'q'),
      await testEnvironment.deployment(await testEnvironment.version(), node.id, 'q'),
    ]
    await testEnvironment.start(first.id)
    await agent.command('deploy')
    await testEnvironment.start(second.id)
    await testEnvironment.client.call('deployments.cancel', {
      params: { ...testEnvironment.params, deploymentId: second.id },
    })
    expect(await testEnvironment.get(second.id)).toMatchObject({ status: 'failed', outcome: 'cancelled by Ada' })
    expect(agent.received.filter((message) => message.command.case === 'cancelDeployment')).toHaveLength(0)
  })

  it('asks the agent to undo a release that it has started, and stores its report', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const params = { ...testEnvironment.params, deploymentId: deployment.id }
    await testEnvironment.client.call('deployments.cancel', { params })
    expect((await agent.command('cancelDeployment')).value).toMatchObject({
      release: { deploymentId: deployment.id, number: 1 },
    })
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    await agent.client.reportDeployment({
      release: release.key,
      events: journal([
        { event: { case: 'outcome', value: { successful: false, cancelled: true, reason: 'cancelled' } } },
      ]),
    })
    expect(await testEnvironment.waitForStatus(deployment.id, 'failed')).toMatchObject({ outcome: 'cancelled by Ada' })
    expect(await refusal(testEnvironment.client.call('deployments.cancel', { params }))).toBe('412 status')
  })
})

describe('replacing the previous version', () => {
  it('makes it obsolete, and takes its containers over', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const old = await testEnvironment.version({ type: 'incremental', images: [{ name: 'web' }, { name: 'cron' }] })
    const next = await testEnvironment.version({
      type: 'incremental',
      name: '1.1.0',
      projectId: old.projectId,
      parentId: old.versionId,
    })
    const [before, after] = [
      await testEnvironment.deployment(old, node.id, 'take'),
      await testEnvironment.deployment(next, node.id, 'take'),
    ]
    await testEnvironment.start(before.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(before.id, 'successful')
    const preview = await testEnvironment.client.call('deployments.preview', {
      params: { ...testEnvironment.params, deploymentId: after.id },
    })
    expect(preview).toMatchObject({ removed: ['take-cron'], problems: [], instances: [{ containerName: 'web' }] })
    await testEnvironment.start(after.id)
    const release = await deployWell(agent, 2)
    expect(release.previous.map((one) => one.containerName)).toEqual(['take-cron', 'take-web'])
    await testEnvironment.waitForStatus(after.id, 'successful')
    expect(await testEnvironment.get(before.id)).toMatchObject({
      status: 'obsolete',
      outcome: 'replaced by 1.1.0',
      running: { deploymentId: after.id, versionName: '1.1.0' },
      deployable: true,
      mutable: false,
    })
  })

  it('changes nothing when the newer version fails', async () => {
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
      await testEnvironment.deployment(old, node.id, 'give'),
      await testEnvironment.deployment(next, node.id, 'give'),
    ]
    await testEnvironment.start(before.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(before.id, 'successful')
    await testEnvironment.start(after.id)
    const release = (await agent.command('deploy', 2)).value as Release
    await agent.client.reportDeployment({ release: release.key, events: journal(badNews('web exited with 1')) })
    await testEnvironment.waitForStatus(after.id, 'failed')
    expect(await testEnvironment.get(before.id)).toMatchObject({
      status: 'successful',
      running: { deploymentId: before.id },
    })
  })

  it('does not change another project under the same prefix', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const [one, other] = [
      await testEnvironment.deployment(await testEnvironment.version(), node.id, 'both'),
      await testEnvironment.deployment(await testEnvironment.version(), node.id, 'both'),
    ]
    await testEnvironment.start(one.id)
    await deployWell(agent)
    await testEnvironment.waitForStatus(one.id, 'successful')
    await testEnvironment.start(other.id)
    expect((await deployWell(agent, 2)).previous).toEqual([])
    await testEnvironment.waitForStatus(other.id, 'successful')
    expect((await testEnvironment.get(one.id)).status).toBe('successful')
  })

  it('keeps the containers of the other instances in the record after a partial start', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(
      await testEnvironment.version({ images: [{ name: 'a' }, { name: 'b' }] }),
      node.id,
      'part',
    )
    await testEnvironment.start(deployment.id)
    await deployWell(agent)
    const { instances } = await testEnvironment.waitForStatus(deployment.id, 'successful')
    await testEnvironment.client.call('deployments.start', {
      params: { ...testEnvironment.params, deploymentId: deployment.id },
      query: {},
      body: { instances: [instances[1]?.id ?? ''] },
    })
    expect((await deployWell(agent, 2)).partial).toBe(true)
    await testEnvironment.waitForStatus(deployment.id, 'successful')
    await testEnvironment.start(deployment.id)
    const third = (await agent.command('deploy', 3)).value as Release
    expect(third.previous.map((one) => [one.containerName, one.release?.number])).toEqual([
      ['part-a', 1],
      ['part-b', 2],
    ])
  })
})
