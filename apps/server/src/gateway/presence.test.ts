import { connect, createServer, type ServerHttp2Session } from 'node:http2'
import { type AddressInfo, connect as connectTcp } from 'node:net'
import type { TestDatabase } from '@crux/postgres'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  eventually,
  makeDatabase,
  makeGateway,
  makeLinkedAgent,
  makeTeam,
  type TestGateway,
} from '../../test/make-gateway.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import { openServerDatabase } from '../db/open-database.ts'
import { node, serverProcess } from '../db/schema/index.ts'
import { createLeases } from '../releases/leases.ts'
import { keepSessionsAlive } from './keep-alive.ts'
import { createPresence } from './presence.ts'

let database: TestDatabase
const gateways: TestGateway[] = []

beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.drop())
afterEach(async () => {
  for (const gateway of gateways.splice(0)) await gateway.stop()
})

const start = async (config?: Parameters<typeof makeGateway>[0]['config']) => {
  const gateway = await makeGateway({ databaseUrl: database.url, config })
  gateways.push(gateway)
  return gateway
}
const crash = async (gateway: TestGateway) => {
  gateways.splice(gateways.indexOf(gateway), 1)
  await gateway.crash()
}
const readNode = async (gateway: TestGateway, id: string) =>
  (await gateway.app.database.db.select().from(node).where(eq(node.id, id)))[0]

test('a server that restarts after kill -9 clears its old links, and its agents reconnect', async () => {
  const config = { port: 45_871, dataDir: '/nonexistent/one' }
  const first = await start(config)
  const watcher = await start()
  const { node: row, agent } = await makeLinkedAgent(first, await makeTeam(first.app))
  const session = first.links.serverId
  // A link that stays in the database although its process has ended.
  await crash(first)
  agent.cut()
  await watcher.app.database.db
    .update(node)
    .set({ linkServer: session, linkSession: 'of the dead' })
    .where(eq(node.id, row.id))
  const second = await start(config)
  expect((await readNode(second, row.id))?.linkServer).toBeNull()
  const back = new ScriptedAgent({ url: second.url, nodeId: row.id, token: agent.token })
  await back.connect()
  expect((await readNode(second, row.id))?.linkServer).toBe(second.links.serverId)
  back.cut()
})

test('the other servers clear and report the links of a process without a heartbeat for 15 s', async () => {
  const living = await start()
  const { node: row, agent } = await makeLinkedAgent(living, await makeTeam(living.app))
  agent.cut()
  await eventually(
    () => readNode(living, row.id),
    (found) => found?.linkServer === null,
  )
  const { db } = living.app.database
  await db.insert(serverProcess).values({ id: 'dead', name: 'dead', heartbeatAt: new Date(Date.now() - 14_000) })
  await db.update(node).set({ linkServer: 'dead', linkSession: 'x' }).where(eq(node.id, row.id))
  const presence = createPresence(living.app, living.links as never)
  await presence.beat()
  expect((await readNode(living, row.id))?.linkServer).toBe('dead')
  const heard = Promise.withResolvers<void>()
  living.app.bus.on('node.changed', (event) => {
    if (event.nodeId === row.id && event.status === 'unreachable') heard.resolve()
  })
  await db
    .update(serverProcess)
    .set({ heartbeatAt: new Date(Date.now() - 16_000) })
    .where(eq(serverProcess.id, 'dead'))
  await presence.beat()
  expect((await readNode(living, row.id))?.linkServer).toBeNull()
  await heard.promise
})

test('an agent that connects to another process ends its previous link, and commands there report the new location', async () => {
  const one = await start()
  const two = await start()
  const { node: row, agent } = await makeLinkedAgent(one, await makeTeam(one.app))
  await expect(two.links.request(row.id, { case: 'listContainers', value: {} })).rejects.toMatchObject({
    code: 'serviceUnavailable',
    property: 'agent',
  })
  const moved = new ScriptedAgent({ url: two.url, nodeId: row.id, token: agent.token })
  await moved.connect()
  expect((await agent.command('closeLink')).value.reason).toBe(3)
  await agent.ended
  await eventually(
    () => one.links.status(row.id),
    (status) => status === 'unreachable',
  )
  expect((await readNode(one, row.id))?.linkServer).toBe(two.links.serverId)
  expect(two.links.status(row.id)).toBe('connected')
  moved.cut()
  agent.cut()
})

test('links survive when other servers considered this process dead, and a revocation that the bus lost is applied later', async () => {
  const gateway = await start()
  const { node: row, agent } = await makeLinkedAgent(gateway, await makeTeam(gateway.app))
  const { pool } = gateway.app.database
  await pool.query('delete from crux.server_process')
  await pool.query('update crux.node set link_server = null, link_session = null where id = $1', [row.id])
  const presence = createPresence(gateway.app, gateway.links as never)
  await presence.beat()
  expect((await readNode(gateway, row.id))?.linkServer).toBe(gateway.links.serverId)
  await pool.query('delete from crux.node_token where node_id = $1', [row.id])
  await presence.beat()
  expect((await agent.command('closeLink')).value.reason).toBe(2)
  agent.cut()
})

test('a link is kept where the database names a dead process', async () => {
  const gateway = await start()
  const { node: row, agent } = await makeLinkedAgent(gateway, await makeTeam(gateway.app))
  await gateway.app.database.db.update(node).set({ linkServer: 'dead', linkSession: 'x' }).where(eq(node.id, row.id))
  const presence = createPresence(gateway.app, gateway.links as never)
  await presence.check(row.id)
  expect(gateway.links.status(row.id)).toBe('connected')
  await presence.beat()
  expect((await readNode(gateway, row.id))?.linkServer).toBe(gateway.links.serverId)
  expect(gateway.links.status(row.id)).toBe('connected')
  agent.cut()
})

test('an idle heartbeat and an idle check of leases are one statement each', async () => {
  const gateway = await start()
  const { agent } = await makeLinkedAgent(gateway, await makeTeam(gateway.app))
  // A separate pool, because the gateway sends heartbeats as well.
  const own = openServerDatabase({ url: database.url })
  const app = { ...gateway.app, database: own }
  const query = vi.spyOn(own.pool, 'query')
  await createPresence(app, gateway.links as never).beat()
  expect(query).toHaveBeenCalledTimes(1)
  await createLeases(app).check()
  expect(query).toHaveBeenCalledTimes(2)
  await own.close()
  agent.cut()
})

test('stopping ends the links at once, so that agents connect to another server', async () => {
  const gateway = await start()
  const { node: row, agent } = await makeLinkedAgent(gateway, await makeTeam(gateway.app))
  const other = await start()
  gateways.splice(gateways.indexOf(gateway), 1)
  await gateway.stop()
  await agent.ended
  expect((await readNode(other, row.id))?.linkServer).toBeNull()
  agent.cut()
})

test('a peer that disappeared silently loses its session within 30 s, a live one keeps it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'setTimeout', 'clearInterval', 'clearTimeout'] })
  const server = createServer()
  keepSessionsAlive(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const opened: ServerHttp2Session[] = []
  const both = Promise.withResolvers<void>()
  server.on('session', (session) => {
    session.on('error', () => undefined)
    opened.push(session)
    if (opened.length === 2) both.resolve()
  })
  const living = connect(`http://127.0.0.1:${port}`)
  // It sends the preface and its settings, then never reads or answers again.
  const vanished = connectTcp(port, '127.0.0.1')
  vanished.write(
    Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])]),
  )
  await both.promise
  const closed = Promise.withResolvers<void>()
  const dead = opened.find((session) => session.socket.remotePort === vanished.localPort)
  dead?.once('close', () => closed.resolve())
  // The first check records what was read, the next one pings.
  await vi.advanceTimersByTimeAsync(21_000)
  await vi.advanceTimersByTimeAsync(21_000)
  await new Promise<void>((resolve) => living.ping(() => resolve()))
  await vi.advanceTimersByTimeAsync(7_000)
  vi.useRealTimers()
  await closed.promise
  expect(opened.filter((session) => !session.destroyed)).toHaveLength(1)
  living.destroy()
  vanished.destroy()
  await new Promise((resolve) => server.close(resolve))
})
