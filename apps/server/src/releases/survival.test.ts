import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  badNews,
  cleanUpNews,
  type DeployTestEnvironment,
  deployWell,
  getTestEnvironment,
  goodNews,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { serverDatabase, startTestServer, type TestServer, until } from '../../test/kit/index.ts'

const agentLost = (testEnvironment: DeployTestEnvironment, nodeId: string) =>
  until(async () => {
    const { rows } = await testEnvironment.server.app.database.pool.query(
      'select link_server from crux.node where id = $1',
      [nodeId],
    )
    return rows[0].linkServer === null
  })

describe('a server that crashes during a release', () => {
  it('continues on the same database at the stored position of the journal, and repeats no event', async () => {
    const database = await serverDatabase()
    const first = await startTestServer({ database })
    const testEnvironment = await makeDeployTestEnvironment(first)
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'go')
    const waiting = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'go')
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    await testEnvironment.start(waiting.id)
    const events = journal(goodNews(release))
    await agent.client.reportDeployment({ release: release.key, events: events.slice(0, 2) })
    agent.cut()
    await first.stop({ database: true })

    const second = await startTestServer({ database, people: first.people })
    const later = await getTestEnvironment(second, testEnvironment.owner, testEnvironment.team)
    expect((await later.get(deployment.id)).status).toBe('in-progress')
    const back = await later.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    expect(back.welcome.command).toMatchObject({
      value: { positions: [{ release: { number: 1 }, acknowledgedSequence: 2n, abandoned: false }] },
    })
    await back.client.reportDeployment({ release: release.key, events: events.slice(2) })
    await later.waitForStatus(deployment.id, 'successful')
    // The release that waited behind it comes next: the one that the agent has was not dispatched again.
    const next = (await back.command('deploy')).value as Release
    expect(next.key?.deploymentId).toBe(waiting.id)
    expect((await later.events(deployment.id)).filter((event) => event.deploymentStatus === 'successful')).toHaveLength(
      1,
    )
    await second.stop()
  })

  it('stores the clean-up after a success, also from an agent that lost its link before, and stays successful', async () => {
    const server = await startTestServer()
    const testEnvironment = await makeDeployTestEnvironment(server)
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'go')
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const news = goodNews(release)
    const events = journal([...news, ...cleanUpNews(release)])
    await agent.client.reportDeployment({ release: release.key, events: events.slice(0, news.length) })
    const before = await testEnvironment.waitForStatus(deployment.id, 'successful')
    agent.cut()
    const back = await testEnvironment.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    expect(back.welcome.command).toMatchObject({
      value: { positions: [{ acknowledgedSequence: BigInt(news.length), abandoned: false }] },
    })
    const { acknowledgedSequence } = await back.client.reportDeployment({ release: release.key, events })
    expect(acknowledgedSequence).toBe(BigInt(events.length))
    const stored = await testEnvironment.events(deployment.id)
    expect(stored.filter(({ phase }) => phase?.phase === 'clean-up')).toHaveLength(release.instances.length)
    expect(stored.filter(({ deploymentStatus }) => deploymentStatus === 'successful')).toHaveLength(1)
    expect(await testEnvironment.get(deployment.id)).toMatchObject({ status: 'successful', outcome: before.outcome })
    await server.stop()
  })

  it('dispatches a release again to an agent that never received it', async () => {
    const database = await serverDatabase()
    const first = await startTestServer({ database })
    const testEnvironment = await makeDeployTestEnvironment(first)
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    await agent.command('deploy')
    agent.cut()
    await first.stop({ database: true })
    const second = await startTestServer({ database, people: first.people })
    const later = await getTestEnvironment(second, testEnvironment.owner, testEnvironment.team)
    const back = await later.agent(node)
    await deployWell(back)
    expect(await later.waitForStatus(deployment.id, 'successful')).toMatchObject({ lastTry: 1 })
    await second.stop()
  })
})

describe('an agent that lost its journal', () => {
  it('runs the release again, and all of its new events are stored', async () => {
    const server = await startTestServer()
    const testEnvironment = await makeDeployTestEnvironment(server)
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    const events = journal(goodNews(release))
    await agent.client.reportDeployment({ release: release.key, events: events.slice(0, -1) })
    agent.cut()
    await agentLost(testEnvironment, node.id)
    const back = await testEnvironment.agent(node)
    await back.command('deploy')
    const [outcome] = journal(badNews('no room on the disk'))
    const { acknowledgedSequence } = await back.client.reportDeployment({
      release: release.key,
      events: outcome ? [outcome] : [],
    })
    expect(acknowledgedSequence).toBe(1n)
    expect(await testEnvironment.waitForStatus(deployment.id, 'failed')).toMatchObject({
      outcome: 'no room on the disk',
    })
    const received = await testEnvironment.events(deployment.id)
    expect(received.at(-1)).toMatchObject({ deploymentStatus: 'failed', reason: 'no room on the disk' })
    expect(received.flatMap((event) => event.log?.log ?? [])).toContain(
      `The agent of ${node.name} does not know this release any more: it starts again from the beginning`,
    )
    await server.stop()
  })
})

describe('leases', () => {
  let server: TestServer
  let testEnvironment: DeployTestEnvironment
  let ahead = 0
  const pass = async (ms: number) => {
    // In steps that are shorter than an interruption of the server itself.
    for (const step of [...Array(Math.ceil(ms / 10_000)).keys()]) {
      ahead += Math.min(10_000, ms - step * 10_000)
      await server.server.deployments.leases.check()
    }
  }
  beforeAll(async () => {
    server = await startTestServer({ overrides: { now: () => new Date(Date.now() + ahead) } })
    testEnvironment = await makeDeployTestEnvironment(server)
  })
  afterAll(() => server.stop())

  const startAndLose = async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    agent.cut()
    await agentLost(testEnvironment, node.id)
    return { node, deployment, release }
  }

  it('fail a release after 60 s without its agent, with that reason', async () => {
    const { node, deployment } = await startAndLose()
    await pass(50_000)
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    await pass(15_000)
    const reason = `the agent of ${node.name} has been away for 60 s`
    expect(await testEnvironment.get(deployment.id)).toMatchObject({ status: 'failed', outcome: reason })
    expect((await testEnvironment.events(deployment.id)).at(-1)).toMatchObject({ deploymentStatus: 'failed', reason })
  })

  it('also end a cancelled release, which shows until then that its agent is unavailable', async () => {
    const { node, deployment, release } = await startAndLose()
    await testEnvironment.client.call('deployments.cancel', {
      params: { ...testEnvironment.params, deploymentId: deployment.id },
    })
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    expect((await testEnvironment.events(deployment.id)).at(-1)?.log?.log[0]).toBe(
      `Cancelled by Ada: the agent of ${node.name} is away and hears of it when it is back; this ends after 60 s without it`,
    )
    await pass(70_000)
    expect(await testEnvironment.get(deployment.id)).toMatchObject({
      status: 'failed',
      outcome: `cancelled by Ada; the agent of ${node.name} has been away for 60 s`,
    })
    const back = await testEnvironment.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    expect(back.welcome.command).toMatchObject({ value: { positions: [{ abandoned: true }] } })
    await back.client.reportDeployment({ release: release.key, events: journal(badNews('abandoned')) })
    expect(await testEnvironment.get(deployment.id)).toMatchObject({ status: 'failed', outcome: 'cancelled by Ada' })
  })

  it("are corrected by the agent's report when it reconnects", async () => {
    const { node, deployment, release } = await startAndLose()
    await pass(70_000)
    expect((await testEnvironment.get(deployment.id)).status).toBe('failed')
    const back = await testEnvironment.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    expect(back.welcome.command).toMatchObject({ value: { positions: [{ abandoned: true }] } })
    await back.client.reportDeployment({ release: release.key, events: journal(goodNews(release)) })
    expect(await testEnvironment.waitForStatus(deployment.id, 'successful')).toMatchObject({
      running: { deploymentId: deployment.id },
    })
    expect(back.received.filter((message) => message.command.case === 'deploy')).toHaveLength(0)
  })

  it('do not affect a newer attempt when the old journal arrives late', async () => {
    const { node, deployment, release } = await startAndLose()
    await pass(70_000)
    const back = await testEnvironment.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    await testEnvironment.start(deployment.id)
    await back.client.reportDeployment({ release: release.key, events: journal(badNews('undone')) })
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    await deployWell(back)
    expect(await testEnvironment.waitForStatus(deployment.id, 'successful')).toMatchObject({ lastTry: 2 })
    expect(await testEnvironment.releases(deployment.id)).toMatchObject([
      { number: 2 },
      { number: 1, reason: 'undone' },
    ])
  })

  it('do not expire while the agent is connected, nor while no server was listening', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await testEnvironment.start(deployment.id)
    await agent.command('deploy')
    await pass(120_000)
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    agent.cut()
    await agentLost(testEnvironment, node.id)
    // The machine slept: one long step, in which no agent could have reconnected.
    ahead += 600_000
    await server.server.deployments.leases.check()
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    await pass(70_000)
    expect((await testEnvironment.get(deployment.id)).status).toBe('failed')
  })

  it('are not renewed by an agent that connects repeatedly for less than 10 s', async () => {
    const { node, deployment, release } = await startAndLose()
    const { pool } = server.app.database
    const key = { deploymentId: deployment.id, number: 1 }
    const events = journal(goodNews(release))
    let reported = 0
    // Each link does what a crash loop does: it resumes the release, and sends the next events of its journal.
    const linkShortly = async () => {
      const agent = await testEnvironment.agent(node, { openReleases: [key] })
      await pool.query('update crux.node set connected_at = $2 where id = $1', [
        node.id,
        new Date(Date.now() + ahead - 1_000),
      ])
      await agent.client.reportDeployment({ release: release.key, events: events.slice(reported, reported + 1) })
      reported += 1
      await server.server.deployments.leases.check()
      agent.cut()
      await agentLost(testEnvironment, node.id)
    }
    for (let seconds = 0; seconds < 60; seconds += 20) {
      expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
      await linkShortly()
      await pass(20_000)
    }
    await pass(15_000)
    const reason = `the agent of ${node.name} did not stay connected for 10 s within 60 s`
    expect(await testEnvironment.get(deployment.id)).toMatchObject({ status: 'failed', outcome: reason })
  })

  it('end a cancelled release of an agent that connects repeatedly', async () => {
    const { node, deployment } = await startAndLose()
    const { pool } = server.app.database
    await testEnvironment.client.call('deployments.cancel', {
      params: { ...testEnvironment.params, deploymentId: deployment.id },
    })
    const agent = await testEnvironment.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    await pool.query('update crux.node set connected_at = $2 where id = $1', [node.id, new Date(Date.now() + ahead)])
    expect((await agent.command('cancelDeployment')).value).toMatchObject({
      release: { deploymentId: deployment.id, number: 1 },
    })
    agent.cut()
    await agentLost(testEnvironment, node.id)
    await pass(75_000)
    expect(await testEnvironment.get(deployment.id)).toMatchObject({
      status: 'failed',
      outcome: `cancelled by Ada; the agent of ${node.name} did not stay connected for 10 s within 60 s`,
    })
  })

  it('are extended when the agent reconnects just before they end, and stays connected', async () => {
    const { node, deployment } = await startAndLose()
    const { pool } = server.app.database
    await pass(58_000)
    const agent = await testEnvironment.agent(node, { openReleases: [{ deploymentId: deployment.id, number: 1 }] })
    await pool.query('update crux.node set connected_at = $2 where id = $1', [node.id, new Date(Date.now() + ahead)])
    await pass(5_000)
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    await pass(120_000)
    expect((await testEnvironment.get(deployment.id)).status).toBe('in-progress')
    agent.cut()
  })

  it('restart without blocking a transaction that ends a release', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const [first, second] = [
      await testEnvironment.deployment(await testEnvironment.version(), node.id),
      await testEnvironment.deployment(await testEnvironment.version(), node.id),
    ]
    for (const { id } of [first, second]) await testEnvironment.start(id)
    await agent.command('deploy', 2)
    const { pool } = server.app.database
    for (const [held, wanted] of [
      [first, second],
      [second, first],
    ] as const) {
      const client = await pool.connect()
      const hold = (id: string) => client.query('select from crux.release where deployment_id = $1 for update', [id])
      await client.query('begin')
      const { rows } = await client.query('select pg_backend_pid() as pid')
      await hold(held.id)
      const begun = server.server.deployments.leases.restart(node.id)
      // The rounds of the server may wait for the same row.
      await until(async () => {
        const { rowCount } = await pool.query(
          'select from pg_stat_activity where datname = current_database() and $1 = any(pg_blocking_pids(pid))',
          [rows[0].pid],
        )
        return rowCount !== 0
      })
      await hold(wanted.id)
      await client.query('rollback')
      client.release()
      await begun
    }
    agent.cut()
  })

  it('also end the release that waits behind the lost one', async () => {
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const [first, second] = [
      await testEnvironment.deployment(await testEnvironment.version(), node.id, 'w'),
      await testEnvironment.deployment(await testEnvironment.version(), node.id, 'w'),
    ]
    await testEnvironment.start(first.id)
    await agent.command('deploy')
    await testEnvironment.start(second.id)
    agent.cut()
    await agentLost(testEnvironment, node.id)
    await pass(80_000)
    expect([(await testEnvironment.get(first.id)).status, (await testEnvironment.get(second.id)).status]).toEqual([
      'failed',
      'failed',
    ])
  })
})

describe('two servers on one database', () => {
  it('start and cancel releases of agents that are connected to the other server', async () => {
    const database = await serverDatabase()
    const near = await startTestServer({ database })
    const far = await startTestServer({ database, people: near.people })
    const testEnvironment = await makeDeployTestEnvironment(near)
    const elsewhere = await getTestEnvironment(far, testEnvironment.owner, testEnvironment.team)
    const node = await testEnvironment.node()
    const agent = await testEnvironment.agent(node)
    const deployment = await testEnvironment.deployment(await testEnvironment.version(), node.id)
    await elsewhere.start(deployment.id)
    const release = (await agent.command('deploy')).value as Release
    await far
      .client(testEnvironment.owner)
      .call('deployments.cancel', { params: { ...testEnvironment.params, deploymentId: deployment.id } })
    await agent.command('cancelDeployment')
    await agent.client.reportDeployment({
      release: release.key,
      events: journal([{ event: { case: 'outcome', value: { successful: false, cancelled: true } } }]),
    })
    expect(await elsewhere.waitForStatus(deployment.id, 'failed')).toMatchObject({ outcome: 'cancelled by Ada' })
    await far.stop({ database: true })
    await near.stop()
  })
})
