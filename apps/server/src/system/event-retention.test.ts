import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { serverDatabase, startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import type { Sql } from '../db/queries.ts'
import { deleteEventsOfNodes, eventsOfNode } from '../nodes/event-retention-store.ts'
import { deleteEventsOfReleases, eventsOfReleases, oldReleases } from '../releases/event-retention-store.ts'
import { deleteEventsBefore } from './event-retention.ts'

/** Two processes on one database, as behind a load balancer. */
let servers: [TestServer, TestServer]
let testEnvironment: DeployTestEnvironment

beforeAll(async () => {
  const database = await serverDatabase()
  const first = await startTestServer({ database })
  servers = [first, await startTestServer({ database, people: first.people })]
  testEnvironment = await makeDeployTestEnvironment(first)
})
afterAll(async () => {
  await servers[1].stop({ database: true })
  await servers[0].stop()
})

const query = <R extends object>(text: string, values: unknown[] = []) =>
  servers[0].app.database.pool.query<R>(text, values).then(({ rows }) => rows)
const day = 86_400_000
const before = () => new Date(Date.now() - 90 * day)
const drop = (server: TestServer = servers[0]) =>
  deleteEventsBefore(server.app, { deployment: deleteEventsOfReleases, node: deleteEventsOfNodes }, before())

type Attempt = { daysAgo: number; status?: 'successful' | 'failed'; current?: boolean; events?: number }
/** A deployment with these releases, the oldest first, each with events of its time. */
async function deployed(attempts: Attempt[], prefix?: string) {
  const node = await testEnvironment.node()
  const { id } = await testEnvironment.deployment(await testEnvironment.version(), node.id, prefix)
  for (const [index, { daysAgo, status = 'successful', current = false, events = 3 }] of attempts.entries()) {
    await query(
      `insert into crux.release (deployment_id, number, team_id, project_id, node_id, prefix, version_name, project_name,
         status, started_by_id, started_by_name, current, finished_at)
       select id, $2, team_id, project_id, node_id, prefix, '1', 'p', $3, 's', 's', $4, now() - make_interval(days => $5)
       from crux.deployment where id = $1`,
      [id, index + 1, status, current, daysAgo],
    )
    await query(
      `insert into crux.deployment_event (deployment_id, attempt, type, value, created_at)
       select $1, $2, 'log', '{"log": ["a"], "level": "info"}', now() - make_interval(days => $3) from generate_series(1, $4)`,
      [id, index + 1, daysAgo, events],
    )
  }
  await query(`update crux.deployment set attempts = $2, status = 'successful' where id = $1`, [id, attempts.length])
  return { id, nodeId: node.id }
}
const attemptsWithEvents = async (id: string) =>
  (
    await query<{ attempt: number }>(
      'select distinct attempt from crux.deployment_event where deployment_id = $1 order by attempt',
      [id],
    )
  ).map((row) => row.attempt)

beforeEach(() => query('truncate crux.deployment_event, crux.node_event'))

it('the retention deletes events of old releases, and keeps the last release, the current one, recent ones and those that a forecast needs', async () => {
  const failed = await deployed([
    { daysAgo: 300, status: 'failed' },
    { daysAgo: 200, current: true },
    { daysAgo: 190, status: 'failed' },
    { daysAgo: 30, status: 'failed' },
    { daysAgo: 20, status: 'failed' },
  ])
  const single = await deployed([{ daysAgo: 400, status: 'failed' }])
  const often = await deployed(
    Array.from({ length: 8 }, (_, index) => ({ daysAgo: 208 - index, current: index === 7 })),
  )
  expect(await drop()).toEqual({ deployment: 3 * (2 + 3), node: 0 })
  expect(await attemptsWithEvents(failed.id)).toEqual([2, 4, 5])
  expect(await attemptsWithEvents(single.id)).toEqual([1])
  // The last five successful ones.
  expect(await attemptsWithEvents(often.id)).toEqual([4, 5, 6, 7, 8])
  expect(await drop(), 'a second night finds nothing').toEqual({ deployment: 0, node: 0 })
  const params = { ...testEnvironment.params, deploymentId: failed.id }
  expect((await testEnvironment.client.call('deployments.get', { params })).status).toBe('successful')
  const releases = await testEnvironment.client.call('deployments.releases', { params })
  expect(releases.map(({ number, logRemovedAfterDays }) => [number, logRemovedAfterDays])).toEqual([
    [5, undefined],
    [4, undefined],
    [3, 90],
    [2, undefined],
    [1, 90],
  ])
})

it('the retention keeps events of releases in progress, however old', async () => {
  const { id } = await deployed([
    { daysAgo: 300, status: 'failed' },
    { daysAgo: 299, status: 'failed' },
  ])
  await query(`update crux.release set status = 'in-progress' where deployment_id = $1 and number = 1`, [id])
  expect(await drop()).toEqual({ deployment: 0, node: 0 })
})

it('the retention deletes old events of a node, and keeps the commands that its container list reads', async () => {
  const { id } = await testEnvironment.node()
  const insert = (event: string, daysAgo: number, count: number) =>
    query(
      `insert into crux.node_event (node_id, event, created_at)
       select $1, $2, now() - make_interval(days => $3, secs => n) from generate_series(1, $4) n`,
      [id, event, daysAgo, count],
    )
  await insert('connected', 100, 30)
  await insert('connected', 10, 5)
  await insert('containerCommand', 120, 250)
  expect(await drop()).toEqual({ deployment: 0, node: 30 + 50 })
  expect(await query('select event, count(*)::int as n from crux.node_event group by event order by event')).toEqual([
    { event: 'connected', n: 5 },
    { event: 'containerCommand', n: 200 },
  ])
})

it('the retention runs in one of two server processes at a time, in batches, along indexes, also with many events', async () => {
  const many = 40
  const perAttempt = 1_000
  const { id, nodeId } = await deployed(
    Array.from({ length: many }, (_, index) => ({
      daysAgo: 400 - index,
      status: 'failed' as const,
      events: perAttempt,
    })),
  )
  await query(
    `insert into crux.node_event (node_id, event, created_at)
     select $1, 'connected', now() - make_interval(days => 100) from generate_series(1, 12000)`,
    [nodeId],
  )
  await query(`insert into crux.node_event (node_id, event) select $1, 'connected' from generate_series(1, 2000)`, [
    nodeId,
  ])
  await query('analyze')
  // Both start at once: an advisory lock lets one of them through.
  const results = await Promise.all(servers.map(drop))
  const dropped = results.filter((result) => result !== undefined)
  expect(dropped.reduce((sum, result) => sum + result.deployment, 0)).toBe((many - 1) * perAttempt)
  expect(dropped.reduce((sum, result) => sum + result.node, 0)).toBe(12_000)
  expect(await attemptsWithEvents(id)).toEqual([many])

  // While one holds the lock, the other does nothing; when its process ends, the lock is released.
  const holder = await servers[1].app.database.pool.connect()
  await holder.query(`select pg_advisory_lock(hashtextextended('event retention', 0))`)
  expect(await drop()).toBeUndefined()
  holder.release(true)
  await until(async () => (await drop()) !== undefined)
})

it('the retention reads neither all releases nor all events', async () => {
  const { id, nodeId } = await deployed(
    Array.from({ length: 300 }, (_, index) => ({
      daysAgo: index < 20 ? 400 : 1,
      status: 'failed' as const,
      events: 30,
    })),
  )
  await query(`insert into crux.node_event (node_id, event) select $1, 'connected' from generate_series(1, 5000)`, [
    nodeId,
  ])
  await query('analyze')
  const plan = async (statement: Sql) => {
    const { text, values } = statement.config()
    return JSON.stringify(await query(`explain (format json) ${text}`, values))
  }
  const start = ['-infinity', '00000000-0000-0000-0000-000000000000'] as const
  expect(await plan(oldReleases(before(), start))).toContain('release_with_events')
  for (const text of [
    await plan(oldReleases(before(), start)),
    await plan(eventsOfReleases([{ deploymentId: id, number: 1 }])),
    await plan(eventsOfNode(nodeId, before(), before())),
  ])
    expect(text).not.toMatch(/Seq Scan","[^}]*"Relation Name":"(release|deployment_event|node_event)"/)
})

it('the retention runs every night, once for all processes', async () => {
  expect(await query(`select name, cron from jobs.schedule where name = 'event-retention'`)).toEqual([
    { name: 'event-retention', cron: '37 3 * * *' },
  ])
})
