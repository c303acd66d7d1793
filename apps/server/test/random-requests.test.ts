import type { Release } from '@crux/agent-protocol'
import type { Client } from '@crux/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  badNews,
  type DeployTestEnvironment,
  getTestEnvironment,
  goodNews,
  journal,
  makeDeployTestEnvironment,
} from './deploy-kit.ts'
import { serverDatabase, startTestServer, type TestServer, until } from './kit/index.ts'
import { keyOne } from './node-keys.ts'
import { ScriptedAgent } from './scripted-agent.ts'

/** Every run uses the same numbers, though not the same moments; CRUX_TEST_SEED sets another seed. */
const seed = Number(process.env.CRUX_TEST_SEED ?? 20_261_121)
const steps = Number(process.env.CRUX_TEST_STEPS ?? 25)
const callers = 6
/** The only refusals of a valid request, at whatever moment it arrives. */
const refusals = new Set([
  'notFound',
  'preconditionFailed',
  'alreadyExists',
  'alreadyHavePreparing',
  'rollingVersionDeployment',
  'invalidArgument',
  'patchConflict',
])

let servers: TestServer[]
let testEnvironments: DeployTestEnvironment[]
beforeAll(async () => {
  const database = await serverDatabase()
  const first = await startTestServer({ database })
  const second = await startTestServer({ database, people: first.people })
  const testEnvironment = await makeDeployTestEnvironment(first)
  servers = [first, second]
  testEnvironments = [testEnvironment, await getTestEnvironment(second, testEnvironment.owner, testEnvironment.team)]
})
afterAll(async () => {
  await servers[1]?.stop({ database: true })
  await servers[0]?.stop()
})

it('many concurrent users at two servers leave all data consistent, and get only the expected refusals', async () => {
  const [testEnvironment] = testEnvironments
  if (!testEnvironment) throw new Error('there is a world')
  const random = mulberry(seed)
  const nodes = [await testEnvironment.node(), await testEnvironment.node()]
  const agents = nodes.map((node, index) => liveAgent(node, servers[index]?.url ?? '', random))
  await Promise.all(agents.map((agent) => agent.connect()))
  for (const type of ['rolling', 'incremental', 'rolling', 'incremental'] as const)
    await testEnvironment.version({ type, images: [{ name: 'a' }, { name: 'b' }] })
  const unexpected: string[] = []
  const counted = new Map<string, number>()
  await Promise.all(
    Array.from({ length: callers }, async (_, caller) => {
      const { client } = testEnvironments[caller % 2] ?? testEnvironment
      for (let step = 0; step < steps; step++) {
        const [name, act] = pick(
          random,
          moves(
            testEnvironment,
            client,
            nodes.map(({ id }) => id),
            random,
          ),
        )
        // More is created than deleted, or soon no shared data would be left.
        if (name.startsWith('delete') && random() < 0.8) continue
        const answer = await act().then(
          () => 'ok',
          (error: { error?: string; message?: string; requestId?: string }) => {
            if (!refusals.has(error.error ?? '')) unexpected.push(`${name}: ${error.error} ${error.message}`)
            return error.error ?? 'thrown'
          },
        )
        counted.set(`${name} ${answer}`, (counted.get(`${name} ${answer}`) ?? 0) + 1)
        if (random() < 0.03) await pick(random, agents).reconnect()
      }
    }),
  )
  if (process.env.CRUX_TEST_SHOW)
    console.log(
      [...counted]
        .sort()
        .map(([what, n]) => `${what} ${n}`)
        .join('\n'),
    )
  expect(unexpected).toEqual([])
  const { pool } = testEnvironment.server.app.database
  await until(
    async () => (await pool.query(`select from crux.deployment where status = 'in-progress'`)).rowCount === 0,
    30_000,
  )
  for (const [rule, text] of Object.entries(broken)) expect([rule, (await pool.query(text)).rows]).toEqual([rule, []])
  expect(agents.flatMap((agent) => agent.problems)).toEqual([])
  for (const agent of agents) agent.stop()
})

type Move = [string, () => Promise<unknown>]
function moves(
  testEnvironment: DeployTestEnvironment,
  client: Client,
  nodeIds: string[],
  random: () => number,
): Move[] {
  const { pool } = testEnvironment.server.app.database
  const { params, registryId } = testEnvironment
  const call = client.call
  const any = async (table: string, columns = 'id') => {
    const { rows } = await pool.query(`select ${columns} from crux.${table} order by id`)
    if (rows.length === 0) throw { error: 'notFound' }
    return pick(random, rows)
  }
  const deployment = async () => ({ ...params, deploymentId: (await any('deployment')).id as string })
  const version = async () => {
    const row = await any('version', 'id, project_id')
    return { ...params, versionId: row.id as string, projectId: row.projectId as string }
  }
  const image = async () => {
    const row = await any('image', 'id, version_id, (select project_id from crux.version v where v.id = version_id)')
    return {
      ...params,
      imageId: row.id as string,
      versionId: row.versionId as string,
      projectId: row.projectId as string,
    }
  }
  const prefix = () => pick(random, ['one', 'two', 'three'])
  const name = () => `n${Math.floor(random() * 1e9)}`
  const patch = async (): Promise<unknown> =>
    call('container-configurations.update', {
      params: { ...params, configId: (await any('container_config')).id },
      body: { config: { environment: [{ key: pick(random, ['A', 'B']), value: name() }] } },
    })
  const create = async (isProtected: boolean) =>
    call('deployments.create', {
      params,
      body: {
        versionId: (await version()).versionId,
        nodeId: pick(random, nodeIds),
        prefix: prefix(),
        protected: isProtected,
      },
    })
  const start = async () => call('deployments.start', { params: await deployment(), query: {}, body: {} })
  return [
    ['create', () => create(random() < 0.2)],
    ['create', () => create(false)],
    ['start', start],
    ['start', start],
    ['start', start],
    ['cancel', async () => call('deployments.cancel', { params: await deployment() })],
    [
      'copy',
      async () =>
        call('deployments.copy', {
          params: await deployment(),
          body: { nodeId: pick(random, nodeIds), prefix: prefix() },
        }),
    ],
    [
      'update',
      async () =>
        call('deployments.update', {
          params: await deployment(),
          body: {
            prefix: prefix(),
            protected: random() < 0.2,
            configBundles: random() < 0.5 ? [] : [(await any('config_bundle')).id],
          },
        }),
    ],
    ['delete', async () => call('deployments.delete', { params: await deployment(), query: {} })],
    [
      'roll back',
      async () =>
        call('deployments.start-release', {
          params: { ...(await deployment()), number: pick(random, [1, 2, 3]) },
          query: {},
        }),
    ],
    ['preview', async () => call('deployments.preview', { params: await deployment(), query: {} })],
    ['get', async () => call('deployments.get', { params: await deployment() })],
    ['patch', patch],
    ['patch', patch],
    ['patch', patch],
    ['bundle', async () => call('config-bundles.create', { params, body: { name: name() } })],
    [
      'delete bundle',
      async () =>
        call('config-bundles.delete', { params: { ...params, configBundleId: (await any('config_bundle')).id } }),
    ],
    [
      'add image',
      async () => call('images.create', { params: await version(), body: [{ registryId, images: [`${name()}:1`] }] }),
    ],
    ['delete image', async () => call('images.delete', { params: await image() })],
    ['tag', async () => call('images.update', { params: await image(), body: { tag: name() } })],
    ['increase', async () => call('versions.increase', { params: await version(), body: { name: name() } })],
    [
      'version',
      async () =>
        call('versions.create', {
          params: await version(),
          body: { name: name(), type: pick(random, ['rolling', 'incremental'] as const) },
        }),
    ],
    ['default', async () => call('versions.default', { params: await version() })],
    ['delete version', async () => call('versions.delete', { params: await version() })],
    ...(random() < 0.2
      ? [
          [
            'delete project',
            async () => call('projects.delete', { params: { ...params, projectId: (await any('project')).id } }),
          ] as Move,
          ['project', async () => testEnvironment.version({ type: 'incremental', images: [{ name: 'a' }] })] as Move,
        ]
      : []),
  ]
}

/** Each query finds an inconsistency. */
const broken: Record<string, string> = {
  'nobody waited for each other': `select deadlocks from pg_stat_database where datname = current_database() and deadlocks > 0`,
  'the last release says what its deployment says': `
    select d.id, d.status, r.status as release from crux.deployment d
    left join crux.release r on r.deployment_id = d.id and r.number = d.attempts
    where d.status <> 'obsolete' and coalesce(r.status, 'preparing') <> d.status`,
  'no release goes on without its deployment': `
    select r.id from crux.release r join crux.deployment d on d.id = r.deployment_id
    where r.status = 'in-progress' and (d.status <> 'in-progress' or d.attempts <> r.number)`,
  'the last event says what the deployment says': `
    select d.id, d.status, e.value from crux.deployment d join lateral (
      select value from crux.deployment_event e where e.deployment_id = d.id and e.attempt = d.attempts and type = 'deployment-status'
      order by position desc limit 1) e on true
    where e.value->>'deploymentStatus' <> d.status`,
  'a rolling version has one deployment at a place': `
    select d.version_id, d.node_id, d.prefix from crux.deployment d join crux.version v on v.id = d.version_id
    where v.type = 'rolling' group by 1, 2, 3 having count(*) > 1`,
  'one version of a place is protected': `
    select node_id, prefix from crux.deployment where protected group by 1, 2 having count(distinct version_id) > 1`,
  'the counts are right': `
    select status, sum(n) from (
      select team_id, status, count(*) as n from crux.deployment group by 1, 2
      union all select team_id, status, -sum(difference) from crux.deployment_count group by 1, 2) c
    group by team_id, status having sum(n) <> 0`,
  'each image of a version has an instance in each of its deployments': `
    select d.id, i.id as image from crux.deployment d join crux.image i on i.version_id = d.version_id
    where not exists (select from crux.instance inst where inst.deployment_id = d.id and inst.image_id = i.id)`,
  'everything that has a configuration has one': `
    select 'instance' from crux.instance o where not exists (select from crux.container_config c where c.instance_id = o.id)
    union all select 'image' from crux.image o where not exists (select from crux.container_config c where c.image_id = o.id)
    union all select 'deployment' from crux.deployment o where not exists (select from crux.container_config c where c.deployment_id = o.id)`,
  'a project with versions has one default': `
    select v.project_id from crux.version v where exists (select from crux.version o where o.project_id = v.project_id and o."default")
    group by 1 having count(*) filter (where v."default") <> 1`,
  'the history ends with what is': `
    select c.id from crux.container_config c join lateral (
      select revision from crux.container_config_revision r where r.config_id = c.id order by revision desc limit 1) r on true
    where r.revision <> c.revision`,
}

/** An agent that runs its commands, with success or not, and reconnects with the reports that it has not sent yet. */
function liveAgent(node: { id: string; token: string }, url: string, random: () => number) {
  type Work = { release: Release; events: ReturnType<typeof journal>; taken: number; sent: number }
  const open = new Map<string, Work>()
  const problems: string[] = []
  const getId = (key: { deploymentId: string; number: number } | undefined) => `${key?.deploymentId}/${key?.number}`
  let agent: ScriptedAgent | undefined
  let over = false

  async function report(by: ScriptedAgent, id: string, work: Work) {
    try {
      while (work.taken < work.events.length && agent === by && !over) {
        const upTo = work.taken + 1 + Math.floor(random() * 3)
        work.sent = Math.max(work.sent, upTo)
        const { acknowledgedSequence } = await by.client.reportDeployment({
          release: work.release.key,
          events: work.events.slice(work.taken, upTo),
        })
        // Occasionally an answer is lost, and the same batch is sent again.
        if (random() < 0.8) work.taken = Number(acknowledgedSequence)
      }
      if (work.taken >= work.events.length) open.delete(id)
    } catch {
      // The link ended: the next one sends it again.
    }
  }
  async function listen(by: ScriptedAgent) {
    for (let seen = 0; agent === by && !over; ) {
      const message = by.received[seen]
      if (!message) {
        await new Promise((resolve) => setTimeout(resolve, 2))
        continue
      }
      seen++
      const { command } = message
      if (command.case === 'deploy') {
        const release = command.value
        const id = getId(release.key)
        const known = open.get(id)
        if (known) {
          void report(by, id, known)
          continue
        }
        const before = [...open.values()].find(
          (work) => work.release.owner?.prefix === release.owner?.prefix && work.sent < work.events.length,
        )
        if (before) problems.push(`${id} came while ${getId(before.release.key)} went on`)
        const work = {
          release,
          events: journal(random() < 0.7 ? goodNews(release) : badNews('bad luck')),
          taken: 0,
          sent: 0,
        }
        open.set(id, work)
        void report(by, id, work)
      }
    }
  }
  async function connect() {
    const openReleases = [...open.values()].flatMap(({ release: { key } }) => (key ? [key] : []))
    const next = new ScriptedAgent({
      url,
      nodeId: node.id,
      token: node.token,
      info: { publicKey: keyOne, openReleases } as object,
    })
    const welcome = await next.connect()
    agent = next
    const positions = welcome.command.case === 'welcome' ? welcome.command.value.positions : []
    for (const { deploymentId, number } of openReleases) {
      const id = getId({ deploymentId, number })
      const position = positions.find(({ release }) => getId(release) === id)
      const work = open.get(id)
      if (!position || !work) open.delete(id)
      else {
        work.taken = Number(position.acknowledgedSequence)
        void report(next, id, work)
      }
    }
    void listen(next)
  }
  return {
    problems,
    connect,
    async reconnect() {
      agent?.cut()
      await connect().catch(() => connect())
    },
    stop() {
      over = true
      agent?.cut()
    },
  }
}

const pick = <T>(random: () => number, all: readonly T[]): T => {
  const one = all[Math.floor(random() * all.length)]
  if (one === undefined) throw new Error('there is nothing to choose from')
  return one
}

function mulberry(state: number): () => number {
  let now = state
  return () => {
    now = (now + 0x6d2b79f5) | 0
    let t = Math.imul(now ^ (now >>> 15), 1 | now)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}
