import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { badNews, type DeployWorld, deployWell, journal, makeDeployWorld } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let server: TestServer
let world: DeployWorld
beforeAll(async () => {
  server = await startTestServer()
  world = await makeDeployWorld(server)
})
afterAll(() => server.stop())

const move = (deploymentId: string, prefix: string, protect = false) =>
  world.client.call('deployments.update', {
    params: { ...world.params, deploymentId },
    body: { prefix, protected: protect },
  })

it('keeps a deployment that moves to another prefix clear of who is there', async () => {
  const node = await world.node()
  for (const [type, error] of [
    ['rolling', 'rollingVersionDeployment'],
    ['incremental', 'alreadyHavePreparing'],
  ] as const) {
    const version = await world.version({ type })
    const [here, there] = [
      await world.deployment(version, node.id, `${type}-a`),
      await world.deployment(version, node.id, `${type}-b`),
    ]
    await expect(move(here.id, there.prefix)).rejects.toMatchObject({ status: 409, error, value: there.id })
    await move(here.id, `${type}-c`)
    await move(there.id, `${type}-a`)
    expect([(await world.get(here.id)).prefix, (await world.get(there.id)).prefix]).toEqual([`${type}-c`, `${type}-a`])
  }
})

it('judges protection and container names by the prefix that is moved to', async () => {
  const node = await world.node()
  const holder = await world.deployment(await world.version(), node.id, 'held')
  await move(holder.id, 'held', true)
  const long = { images: [{ name: 'web', config: { name: 'w'.repeat(40) } }] }
  const { id } = await world.deployment(await world.version(long), node.id, 'free')
  await move(id, 'free', true)
  await expect(move(id, 'held', true)).rejects.toMatchObject({
    status: 412,
    property: 'deploymentId',
    value: holder.id,
  })
  await expect(move(id, 'p'.repeat(30), true)).rejects.toMatchObject({ status: 400, property: 'prefix' })
  expect(await world.get(id)).toMatchObject({ prefix: 'free', protected: true })
  await move(id, 'held')
  expect(await world.get(id)).toMatchObject({ prefix: 'held', protected: false })
})

it('gives an agent one release per place, also when one that was started earlier is stored later', async () => {
  const node = await world.node()
  const agent = await world.agent(node)
  const projectId = await world.project()
  const [slow, quick] = [
    await world.deployment(await world.version({ projectId, name: '1' }), node.id, 'meet'),
    await world.deployment(await world.version({ projectId, name: '2' }), node.id, 'meet'),
  ]
  const { pool } = server.app.database
  const client = await pool.connect()
  await client.query('begin')
  await client.query('select from crux.deployment where id = $1 for update', [slow.id])
  const started = world.start(slow.id)
  await until(
    async () =>
      (
        await pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`,
        )
      ).rowCount === 1,
  )
  await world.start(quick.id)
  await agent.command('deploy')
  await client.query('rollback')
  client.release()
  await started
  expect(await world.get(slow.id)).toMatchObject({ queuePosition: 1, queuedBehind: { deploymentId: quick.id } })
  await server.server.deployments.leases.check()
  expect(agent.received.filter((message) => message.command.case === 'deploy')).toHaveLength(1)
  await deployWell(agent)
  const next = (await agent.command('deploy', 2)).value as Release
  // Built from what the first one left.
  expect([next.key?.deploymentId, next.previous]).toMatchObject([slow.id, [{ containerName: 'meet-web' }]])
})

it('queues starts at one place in order, shows each its position, and moves up when one is cancelled', async () => {
  const node = await world.node()
  const agent = await world.agent(node)
  const ids: string[] = []
  for (let number = 0; number < 4; number++) {
    const { id } = await world.deployment(await world.version(), node.id, 'queue')
    ids.push(id)
    await world.start(id)
  }
  const [first = '', second = '', third = '', fourth = ''] = ids
  const waiting = async () => {
    const { items } = await world.client.call('deployments.list', {
      params: world.params,
      query: { skip: 0, take: 50, nodeId: node.id },
    })
    return ids.map((id) => items.find((item) => item.id === id))
  }
  const positions = async () => (await waiting()).map((item) => item?.queuePosition)
  const behind = async () => (await waiting()).map((item) => item?.queuedBehind?.deploymentId)
  expect(await positions()).toEqual([null, 1, 2, 3])
  expect(await behind()).toEqual([undefined, first, first, first])
  const { queuedBehind, project, version } = await world.get(third)
  expect(queuedBehind).toMatchObject({ number: 1, versionName: '1.0.0' })
  const ofVersion = await world.client.call('versions.get', {
    params: { ...world.params, projectId: project.id, versionId: version.id },
  })
  expect(ofVersion.deployments).toMatchObject([
    { id: third, status: 'in-progress', queuePosition: 2, queuedBehind, progress: { done: 0, total: 1 } },
  ])
  await world.client.call('deployments.cancel', { params: { ...world.params, deploymentId: second } })
  await world.statusEvent(second, 'failed')
  expect(await positions()).toEqual([null, null, 1, 2])
  const begun = await deployWell(agent, 1)
  await agent.command('deploy', 2)
  expect(await positions()).toEqual([null, null, null, 1])
  expect(await behind()).toEqual([undefined, undefined, undefined, third])
  const handed = [begun, await deployWell(agent, 2), await deployWell(agent, 3)]
  expect(handed.map(({ key }) => key?.deploymentId)).toEqual([first, third, fourth])
  await world.statusEvent(fourth, 'successful')
  expect(await positions()).toEqual([null, null, null, null])
})

it('lets starts at one place wait for each other, and hands them over in order', async () => {
  const node = await world.node()
  const agent = await world.agent(node)
  const [first, second, elsewhere] = await Promise.all([
    world.deployment(await world.version(), node.id, 'same'),
    world.deployment(await world.version(), node.id, 'same'),
    world.deployment(await world.version(), node.id, 'other'),
  ])
  await world.start(first.id)
  const one = (await agent.command('deploy')).value as Release
  await world.start(second.id)
  expect(await world.get(second.id)).toMatchObject({ status: 'in-progress', queuePosition: 1 })
  expect((await world.events(second.id)).at(-1)?.log?.log[0]).toMatch(/^Waiting behind release 1 of shop/)
  await world.start(elsewhere.id)
  const two = (await agent.command('deploy', 2)).value as Release
  expect([one.key?.deploymentId, two.key?.deploymentId]).toEqual([first.id, elsewhere.id])
  await agent.client.reportDeployment({ release: one.key, events: journal(badNews('no')) })
  const three = (await agent.command('deploy', 3)).value as Release
  expect(three.key?.deploymentId).toBe(second.id)
  expect((await world.get(second.id)).queuePosition).toBeNull()
})
