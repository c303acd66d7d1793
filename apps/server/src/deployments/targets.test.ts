import type { Release } from '@crux/agent-protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  deployWell,
  journal,
  makeDeployTestEnvironment,
} from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import { readReleaseTitles } from '../releases/store.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
beforeAll(async () => {
  server = await startTestServer()
  testEnvironment = await makeDeployTestEnvironment(server)
})
afterAll(() => server.stop())

const move = (deploymentId: string, prefix: string, protect = false) =>
  testEnvironment.client.call('deployments.update', {
    params: { ...testEnvironment.params, deploymentId },
    body: { prefix, protected: protect },
  })

it('moving a deployment to another prefix is refused if that deployment target is occupied', async () => {
  const node = await testEnvironment.node()
  for (const [type, error] of [
    ['rolling', 'rollingVersionDeployment'],
    ['incremental', 'alreadyHavePreparing'],
  ] as const) {
    const version = await testEnvironment.version({ type })
    const [here, there] = [
      await testEnvironment.deployment(version, node.id, `${type}-a`),
      await testEnvironment.deployment(version, node.id, `${type}-b`),
    ]
    await expect(move(here.id, there.prefix)).rejects.toMatchObject({ status: 409, error, value: there.id })
    await move(here.id, `${type}-c`)
    await move(there.id, `${type}-a`)
    expect([(await testEnvironment.get(here.id)).prefix, (await testEnvironment.get(there.id)).prefix]).toEqual([
      `${type}-c`,
      `${type}-a`,
    ])
  }
})

it('moving a deployment checks protection and container names with the new prefix', async () => {
  const node = await testEnvironment.node()
  const holder = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'held')
  await move(holder.id, 'held', true)
  const long = { images: [{ name: 'web', config: { name: 'w'.repeat(40) } }] }
  const { id } = await testEnvironment.deployment(await testEnvironment.version(long), node.id, 'free')
  await move(id, 'free', true)
  await expect(move(id, 'held', true)).rejects.toMatchObject({
    status: 412,
    property: 'deploymentId',
    value: holder.id,
  })
  await expect(move(id, 'p'.repeat(30), true)).rejects.toMatchObject({ status: 400, property: 'prefix' })
  expect(await testEnvironment.get(id)).toMatchObject({ prefix: 'free', protected: true })
  await move(id, 'held')
  expect(await testEnvironment.get(id)).toMatchObject({ prefix: 'held', protected: false })
})

it('an agent gets one release per deployment target, also when one that was started earlier is stored later', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const projectId = await testEnvironment.project()
  const [slow, quick] = [
    await testEnvironment.deployment(await testEnvironment.version({ projectId, name: '1' }), node.id, 'meet'),
    await testEnvironment.deployment(await testEnvironment.version({ projectId, name: '2' }), node.id, 'meet'),
  ]
  const { pool } = server.app.database
  const client = await pool.connect()
  await client.query('begin')
  await client.query('select from crux.deployment where id = $1 for update', [slow.id])
  const started = testEnvironment.start(slow.id)
  await until(
    async () =>
      (
        await pool.query(
          `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' limit 1`,
        )
      ).rowCount === 1,
  )
  await testEnvironment.start(quick.id)
  await agent.command('deploy')
  await client.query('rollback')
  client.release()
  await started
  expect(await testEnvironment.get(slow.id)).toMatchObject({
    queuePosition: 1,
    queuedBehind: { deploymentId: quick.id },
  })
  await server.server.deployments.leases.check()
  expect(agent.received.filter((message) => message.command.case === 'deploy')).toHaveLength(1)
  await deployWell(agent)
  const next = (await agent.command('deploy', 2)).value as Release
  // It is built from what the first one left.
  expect([next.key?.deploymentId, next.previous]).toMatchObject([slow.id, [{ containerName: 'meet-web' }]])
})

it('starts at one deployment target are queued in order, show their position, and move up when one is cancelled', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const ids: string[] = []
  for (let number = 0; number < 4; number++) {
    const { id } = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'queue')
    ids.push(id)
    await testEnvironment.start(id)
  }
  const [first = '', second = '', third = '', fourth = ''] = ids
  const waiting = async () => {
    const { items } = await testEnvironment.client.call('deployments.list', {
      params: testEnvironment.params,
      query: { skip: 0, take: 50, nodeId: node.id },
    })
    return ids.map((id) => items.find((item) => item.id === id))
  }
  const positions = async () => (await waiting()).map((item) => item?.queuePosition)
  const behind = async () => (await waiting()).map((item) => item?.queuedBehind?.deploymentId)
  expect(await positions()).toEqual([null, 1, 2, 3])
  expect(await behind()).toEqual([undefined, first, first, first])
  const { queuedBehind, project, version } = await testEnvironment.get(third)
  expect(queuedBehind).toMatchObject({ number: 1, versionName: '1.0.0' })
  const ofVersion = await testEnvironment.client.call('versions.get', {
    params: { ...testEnvironment.params, projectId: project.id, versionId: version.id },
  })
  expect(ofVersion.deployments).toMatchObject([
    { id: third, status: 'in-progress', queuePosition: 2, queuedBehind, progress: { done: 0, total: 1 } },
  ])
  await testEnvironment.client.call('deployments.cancel', {
    params: { ...testEnvironment.params, deploymentId: second },
  })
  await testEnvironment.waitForStatus(second, 'failed')
  expect(await positions()).toEqual([null, null, 1, 2])
  const begun = await deployWell(agent, 1)
  await agent.command('deploy', 2)
  expect(await positions()).toEqual([null, null, null, 1])
  expect(await behind()).toEqual([undefined, undefined, undefined, third])
  const handed = [begun, await deployWell(agent, 2), await deployWell(agent, 3)]
  expect(handed.map(({ key }) => key?.deploymentId)).toEqual([first, third, fourth])
  await testEnvironment.waitForStatus(fourth, 'successful')
  expect(await positions()).toEqual([null, null, null, null])
})

it('a release of a project without versions is named by its project alone, in the queue, the events and the log', async () => {
  const node = await testEnvironment.node()
  await testEnvironment.agent(node)
  const projectId = await testEnvironment.project('Lab', 'versionless')
  const { id: lab } = await testEnvironment.deployment(
    await testEnvironment.version({ projectId, name: 'rolling' }),
    node.id,
    'lab',
  )
  await testEnvironment.start(lab)
  const { id } = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'lab')
  await testEnvironment.start(id)
  expect(await testEnvironment.get(id)).toMatchObject({
    queuedBehind: { projectName: 'Lab', projectType: 'versionless', versionName: 'rolling' },
  })
  expect((await testEnvironment.events(id)).at(-1)?.log?.log).toEqual(['Waiting behind release 1 of Lab'])
  expect(await readReleaseTitles(server.app.database.pool, lab, [1])).toMatchObject([{ title: 'Lab' }])
})

it('starts at one deployment target wait for each other, and are dispatched in order', async () => {
  const node = await testEnvironment.node()
  const agent = await testEnvironment.agent(node)
  const [first, second, elsewhere] = await Promise.all([
    testEnvironment.deployment(await testEnvironment.version(), node.id, 'same'),
    testEnvironment.deployment(await testEnvironment.version(), node.id, 'same'),
    testEnvironment.deployment(await testEnvironment.version(), node.id, 'other'),
  ])
  await testEnvironment.start(first.id)
  const one = (await agent.command('deploy')).value as Release
  await testEnvironment.start(second.id)
  expect(await testEnvironment.get(second.id)).toMatchObject({ status: 'in-progress', queuePosition: 1 })
  expect((await testEnvironment.events(second.id)).at(-1)?.log?.log[0]).toMatch(/^Waiting behind release 1 of shop/)
  await testEnvironment.start(elsewhere.id)
  const two = (await agent.command('deploy', 2)).value as Release
  expect([one.key?.deploymentId, two.key?.deploymentId]).toEqual([first.id, elsewhere.id])
  await agent.client.reportDeployment({ release: one.key, events: journal(badNews('no')) })
  const three = (await agent.command('deploy', 3)).value as Release
  expect(three.key?.deploymentId).toBe(second.id)
  expect((await testEnvironment.get(second.id)).queuePosition).toBeNull()
})
