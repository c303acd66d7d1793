import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { type DeployTestEnvironment, makeDeployTestEnvironment } from '../../test/deploy-kit.ts'
import { startTestServer, type TestServer, until } from '../../test/kit/index.ts'
import type { TeamEvent } from '../team-events/index.ts'
import { createReachability } from './reachability.ts'

let server: TestServer
let second: TestServer
let fixture: DeployTestEnvironment

beforeAll(async () => {
  server = await startTestServer()
  second = await startTestServer({ database: server.database, people: server.people })
  fixture = await makeDeployTestEnvironment(server)
})
afterAll(async () => {
  await second.stop({ database: true })
  await server.stop()
})

const query = (text: string, values: unknown[] = []) => server.app.database.pool.query(text, values)
const listeningFor = (minutes: number) =>
  query('update crux.server_process set started_at = now() - make_interval(mins => $1)', [minutes])
beforeEach(() => listeningFor(60))

const check = () => Promise.all([server, second].map(({ app }) => createReachability(app).check()))

async function events(nodeId: string): Promise<string[]> {
  const { rows } = await query(
    `select data from jobs.job where name = 'team-event' and data ->> 'nodeId' = $1
       and data ->> 'type' like 'node-%' order by created_on, id`,
    [nodeId],
  )
  return rows.map(({ data }: { data: TeamEvent }) => data.type)
}

/** A node whose agent was connected and is away. */
async function makeAbsent(minutes: number) {
  const node = await fixture.node()
  const agent = await fixture.agent(node)
  agent.cut()
  await until(
    async () => (await query('select link_server from crux.node where id = $1', [node.id])).rows[0].linkServer === null,
  )
  await absentFor(node.id, minutes)
  return node
}
const absentFor = (nodeId: string, minutes: number) =>
  query('update crux.node set disconnected_at = now() - make_interval(secs => $2) where id = $1', [
    nodeId,
    minutes * 60,
  ])

it('a node without its agent for five minutes is reported once, by one of two servers', async () => {
  const node = await makeAbsent(4.9)
  await check()
  expect(await events(node.id)).toEqual([])
  await absentFor(node.id, 5.1)
  await check()
  await check()
  expect(await events(node.id)).toEqual(['node-unreachable'])
})

it('time does not count while no server listened, nor while the only one slept', async () => {
  const node = await makeAbsent(30)
  await listeningFor(1)
  await check()
  expect(await events(node.id)).toEqual([])
  await listeningFor(6)
  await check()
  expect(await events(node.id)).toEqual(['node-unreachable'])
})

it('a node that is back is reported once its link has held for ten seconds, and its next outage is another one', async () => {
  const node = await makeAbsent(6)
  await check()
  const agent = await fixture.agent(node)
  await check()
  expect(await events(node.id)).toEqual(['node-unreachable'])
  await query(`update crux.node set connected_at = now() - interval '11 seconds' where id = $1`, [node.id])
  await check()
  await check()
  expect(await events(node.id)).toEqual(['node-unreachable', 'node-back'])
  agent.cut()
  await until(
    async () => (await query('select link_server from crux.node where id = $1', [node.id])).rows[0].linkServer === null,
  )
  await absentFor(node.id, 7)
  await check()
  expect(await events(node.id)).toEqual(['node-unreachable', 'node-back', 'node-unreachable'])
})

it('an agent that only connects between two crashes is neither back nor reported again', async () => {
  const node = await makeAbsent(6)
  await check()
  const agent = await fixture.agent(node)
  await check()
  agent.cut()
  await until(
    async () => (await query('select link_server from crux.node where id = $1', [node.id])).rows[0].linkServer === null,
  )
  await absentFor(node.id, 7)
  await check()
  expect(await events(node.id)).toEqual(['node-unreachable'])
})

it('a node that never had an agent, whose agent is being updated, or that was deleted is not reported', async () => {
  const never = await fixture.node()
  const updating = await makeAbsent(6)
  await query(
    `insert into crux.node_update (node_id, id, state, token_hash, from_version, started_by_id, started_by_name, deadline_at)
     values ($1::uuid, $1::uuid, 'preparing', $1::text, '1.0.0', 'test', 'Test', now() + interval '1 hour')`,
    [updating.id],
  )
  const deleted = await makeAbsent(6)
  await fixture.client.call('nodes.delete', { params: { ...fixture.params, nodeId: deleted.id } })
  await check()
  for (const { id } of [never, updating, deleted]) expect(await events(id)).toEqual([])
})

it('a node whose token was revoked is not reported, because its agent was disconnected on purpose', async () => {
  const revoked = await makeAbsent(6)
  await fixture.client.call('nodes.revoke-token', { params: { ...fixture.params, nodeId: revoked.id } })
  await absentFor(revoked.id, 6)
  await check()
  expect(await events(revoked.id)).toEqual([])
})

it('time that a process slept does not count', async () => {
  const reachability = createReachability(server.app)
  await reachability.check()
  const node = await makeAbsent(6)
  const now = Date.now
  Date.now = () => now() + 120_000
  try {
    // The first check after the sleep: agents had no server to connect to.
    await reachability.check()
  } finally {
    Date.now = now
  }
  expect(await events(node.id)).toEqual([])
})
