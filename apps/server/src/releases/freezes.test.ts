import { randomUUID } from 'node:crypto'
import type { Client } from '@crux/client'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DeployTestEnvironment, deployWell, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { frozenNow, inDays, makeEnvironment } from '../../test/freeze-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'

let server: TestServer
let testEnvironment: DeployTestEnvironment
let node: Awaited<ReturnType<DeployTestEnvironment['node']>>
let agent: Awaited<ReturnType<DeployTestEnvironment['agent']>>
let deploymentId: string
let environment: Awaited<ReturnType<typeof makeEnvironment>>
beforeAll(async () => {
  server = await startTestServer()
})
/** A deployment that runs, and the environment of its node and prefix. */
beforeEach(async () => {
  testEnvironment = await makeDeployTestEnvironment(server)
  node = await testEnvironment.node()
  agent = await testEnvironment.agent(node)
  // No registry is asked about the images of this one.
  const registryId = await testEnvironment.registry({ local: true })
  const version = await testEnvironment.version({ type: 'rolling', images: [{ name: 'web', registryId }] })
  const deployment = await testEnvironment.deployment(version, node.id, 'shop')
  deploymentId = deployment.id
  await testEnvironment.start(deploymentId)
  await deployWell(agent)
  await testEnvironment.waitForStatus(deploymentId, 'successful')
  environment = await makeEnvironment(testEnvironment, { nodeId: node.id, prefix: 'shop' })
})
afterAll(() => server.stop())

type Options = { as?: Client; overrideFreeze?: string | null; wait?: string }
const at = () => ({ ...testEnvironment.params, deploymentId })
const start = ({ as = testEnvironment.client, overrideFreeze }: Options = {}) =>
  as.call('deployments.start', { params: at(), query: {}, body: { overrideFreeze } })
const rollBack = ({ as = testEnvironment.client, overrideFreeze }: Options = {}) =>
  as.call('deployments.start-release', { params: { ...at(), number: 1 }, query: {}, body: { overrideFreeze } })
const run = ({ as = testEnvironment.client, overrideFreeze }: Options = {}, prefix = 'fresh') =>
  as.call('projects.run', {
    params: testEnvironment.params,
    body: {
      key: randomUUID(),
      image: 'registry.example.com:5000/web:1.0',
      registryId: testEnvironment.registryId,
      nodeId: node.id,
      prefix,
      overrideFreeze,
    },
  })
const outcome = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'ok',
    (error: { status: number; property?: string }) => `${error.status} ${error.property}`,
  )
const releases = () => testEnvironment.releases(deploymentId)
const asRole = async (role: 'user' | 'admin') => server.client(await server.addMember(testEnvironment.team, role))
/** Requests a start with a token, as a script does. */
const startWith = async (token: string, body: object = {}) => {
  const response = await server.request(`/api/${testEnvironment.team.slug}/deployments/${deploymentId}/start`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, ...((response.ok ? {} : await response.json()) as { property?: string }) }
}

describe('during a freeze window', () => {
  it('a start is refused with the environment, the reason and the end, and so is a rollback', async () => {
    const { id } = await environment.freeze({
      kind: 'once',
      reason: 'Release\nweek.',
      from: inDays(-1),
      to: '2100-01-02T03:04:00Z',
    })
    const refused = {
      status: 412,
      error: 'preconditionFailed',
      property: 'freezeWindow',
      value: { until: '2100-01-02T03:04:00.000Z' },
      description: `${environment.name} is frozen until 2100-01-02 03:04 UTC: Release week. Only an admin of the team who is signed in may deploy before, with a reason.`,
    }
    await expect(start()).rejects.toMatchObject(refused)
    await expect(start({ as: await asRole('user') })).rejects.toMatchObject(refused)
    await expect(rollBack()).rejects.toMatchObject(refused)
    expect(await releases()).toHaveLength(1)
    await environment.remove(id)
    await start()
    expect(await releases()).toHaveLength(2)
  })

  it('the preview of a start and of a rollback list it as a problem', async () => {
    await environment.freeze({
      kind: 'weekly',
      reason: 'Always',
      days: [1, 2, 3, 4, 5, 6, 7],
      from: '00:00',
      to: '00:00',
      timeZone: 'Asia/Tokyo',
    })
    // Otherwise the previews would wait for the time limit of its answer.
    agent.failing.add('listImages')
    const { client } = testEnvironment
    const previews = [
      await client.call('deployments.preview', { params: at() }),
      await client.call('deployments.preview-release', { params: { ...at(), number: 1 } }),
    ]
    for (const { problems } of previews)
      expect(problems).toEqual([
        {
          property: 'freezeWindow',
          error: 'preconditionFailed',
          description: expect.stringContaining('is frozen without an end in the next days: Always.'),
          instanceId: null,
        },
      ])
  })

  it('tokens of a deployment and of users are refused, of admins too, and none may override it', async () => {
    await environment.freeze()
    const admin = await server.addMember(testEnvironment.team, 'admin')
    const mine = await testEnvironment.client.call('deployments.create-token', {
      params: at(),
      body: { name: 'Pipeline' },
    })
    const { token } = await server
      .client(admin)
      .call('tokens.create', { body: { name: 'Script', expirationInDays: 0 } })
    for (const one of [mine.token, token]) {
      expect(await startWith(one)).toMatchObject({ status: 412, property: 'freezeWindow' })
      expect(await startWith(one, { overrideFreeze: 'because' })).toMatchObject({
        status: 403,
        property: 'overrideFreeze',
      })
    }
    expect(await releases()).toHaveLength(1)
  })

  it('running an image at its node and prefix is refused and creates nothing, unless an admin says why', async () => {
    const fresh = await makeEnvironment(testEnvironment, { nodeId: node.id, prefix: 'fresh' })
    await fresh.freeze()
    const user = await asRole('user')
    expect(await outcome(run({ as: user }))).toBe('412 freezeWindow')
    expect(await outcome(run({ as: user, overrideFreeze: 'urgent' }))).toBe('403 overrideFreeze')
    expect(await outcome(run())).toBe('412 freezeWindow')
    const { client, params } = testEnvironment
    const projects = await client.call('projects.list', { params })
    expect(await outcome(run({}, 'elsewhere'))).toBe('ok')
    const started = await run({ overrideFreeze: 'urgent' })
    expect((await testEnvironment.releases(started.deploymentId))[0]).toMatchObject({ overrideFreeze: 'urgent' })
    expect(await client.call('projects.list', { params })).toHaveLength(projects.length + 2)
  })

  it('another prefix and another node are not affected', async () => {
    await environment.freeze()
    const { client, params } = testEnvironment
    const second = await testEnvironment.node()
    await testEnvironment.agent(second)
    const otherPrefix = await client.call('deployments.copy', {
      params: at(),
      body: { nodeId: node.id, prefix: 'other' },
    })
    const otherNode = await client.call('deployments.copy', {
      params: at(),
      body: { nodeId: second.id, prefix: 'shop' },
    })
    for (const { id } of [otherPrefix, otherNode])
      expect(
        await outcome(
          client.call('deployments.start', { params: { ...params, deploymentId: id }, query: {}, body: {} }),
        ),
      ).toBe('ok')
  })

  it('a release that is in progress, and one that waits in the queue, go on', async () => {
    const second = await testEnvironment.deployment(await testEnvironment.version(), node.id, 'shop')
    await start()
    await testEnvironment.start(second.id)
    await environment.freeze()
    await deployWell(agent, 2)
    await deployWell(agent, 3)
    await testEnvironment.waitForStatus(second.id, 'successful')
  })
})

describe('an admin who says why', () => {
  it.each([
    ['starts', start],
    ['rolls back', rollBack],
  ])('%s, which release, log and audit log keep', async (_, request) => {
    await environment.freeze(frozenNow('Release week'))
    await request({ as: await asRole('admin'), overrideFreeze: '  A leak\n in the shop ' })
    const [release] = await releases()
    expect(release).toMatchObject({ number: 2, overrideFreeze: 'A leak\n in the shop' })
    const events = await testEnvironment.events(deploymentId)
    expect(JSON.stringify(events)).toContain('deploys during a freeze window (Release week): A leak in the shop')
    const { client, params } = testEnvironment
    const query = { skip: 0, take: 100, from: inDays(-1), to: inDays(1) }
    const entry = await until(async () => {
      const { items } = await client.call('audit-log.list', { params, query })
      return items.find(({ data }) => JSON.stringify(data).includes('overrideFreeze'))
    })
    expect(entry.data).toMatchObject({
      overrideFreeze: 'A leak\n in the shop',
      freeze: { reason: 'Release week', until: expect.any(String) },
    })
  })

  it('is refused as a user of the team, with nothing stored', async () => {
    await environment.freeze()
    const user = await asRole('user')
    expect(await outcome(start({ as: user, overrideFreeze: 'please' }))).toBe('403 overrideFreeze')
    expect(await outcome(rollBack({ as: user, overrideFreeze: 'please' }))).toBe('403 overrideFreeze')
    expect(await releases()).toHaveLength(1)
  })

  it('needs a reason of letters, and not a long one', async () => {
    await environment.freeze()
    for (const overrideFreeze of ['', '   ', 'x'.repeat(501)])
      expect(await outcome(start({ overrideFreeze }))).toBe('400 overrideFreeze')
    expect(await outcome(start({ overrideFreeze: null }))).toBe('412 freezeWindow')
  })

  it('while nothing is frozen leaves no reason behind', async () => {
    await start({ overrideFreeze: 'just in case' })
    expect((await releases())[0]).toMatchObject({ number: 2, overrideFreeze: null })
    expect(JSON.stringify(await testEnvironment.events(deploymentId))).not.toContain('just in case')
  })

  it('still needs everything else: another problem is reported', async () => {
    await environment.freeze()
    await server.app.database.pool.query(
      `update crux.container_config set fields = $2 where image_id in (
      select image_id from crux.instance where deployment_id = $1)`,
      [deploymentId, JSON.stringify({ secrets: [{ key: 'TOKEN', required: true }] })],
    )
    expect(await outcome(start({ overrideFreeze: 'urgent' }))).toBe('412 instanceIds')
  })
})

describe('a window that is created while a start runs', () => {
  const hold = async () => {
    const client = await server.app.database.pool.connect()
    await client.query('begin')
    return Object.assign(client, {
      async letGo() {
        await client.query('rollback')
        client.release()
      },
    })
  }
  const waiting = (count: number) =>
    until(async () => {
      const { rows } = await server.app.database.pool.query<{ n: number }>(
        `select count(*)::int as n from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
      )
      return (rows[0]?.n ?? 0) >= count
    })

  it('waits for the start that has been checked', async () => {
    // The start gets as far as the insert of its release.
    const held = await hold()
    await held.query('lock table crux.release in share mode')
    const started = outcome(start())
    await waiting(1)
    const frozen = outcome(environment.freeze())
    await waiting(2)
    expect(await releases()).toHaveLength(1)
    await held.letGo()
    expect(await Promise.all([started, frozen])).toEqual(['ok', 'ok'])
  })

  it('and one that comes with its environment waits for the start that has been checked', async () => {
    const elsewhere = await makeEnvironment(testEnvironment, { nodeId: node.id, prefix: 'elsewhere' })
    await elsewhere.freeze()
    const held = await hold()
    await held.query('lock table crux.release in share mode')
    const started = outcome(start())
    await waiting(1)
    const moved = outcome(
      testEnvironment.client.call('packages.update-environment', {
        params: elsewhere.path,
        body: { name: 'prod', nodeId: node.id, prefix: 'shop' },
      }),
    )
    await waiting(2)
    await held.letGo()
    expect(await Promise.all([started, moved])).toEqual(['ok', 'ok'])
    expect(await outcome(start())).toMatch(/^4/)
  })

  it('is seen by a start on another server that waited for it', async () => {
    const second = await startTestServer({ database: server.database, people: server.people })
    try {
      const held = await hold()
      await held.query('lock table crux.freeze_window in share mode')
      const frozen = outcome(environment.freeze())
      await waiting(1)
      const started = outcome(start({ as: second.client(testEnvironment.owner) }))
      await waiting(2)
      await held.letGo()
      expect(await Promise.all([frozen, started])).toEqual(['ok', '412 freezeWindow'])
    } finally {
      await second.stop({ database: true })
    }
  })
})
