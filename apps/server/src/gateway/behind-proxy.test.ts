import type { TestDatabase } from '@crux/postgres'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import {
  makeDatabase,
  makeGateway,
  makeInstallToken,
  makeNode,
  makeTeam,
  type TestGateway,
} from '../../test/make-gateway.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import { node } from '../db/schema/index.ts'
import { Link } from './link.ts'

let database: TestDatabase
let gateway: TestGateway | undefined
let agent: ScriptedAgent | undefined

beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.drop())
afterEach(async () => {
  vi.useRealTimers()
  agent?.cut()
  await gateway?.stop()
  gateway = undefined
  agent = undefined
})

/** The stored address of an agent that calls from loopback with this header. */
async function storedAddress(trustedProxies: readonly string[], forwardedFor: string) {
  gateway = await makeGateway({ databaseUrl: database.url, config: { trustedProxies } })
  const team = await makeTeam(gateway.app)
  const { id } = await makeNode(gateway.app, team)
  const token = await makeInstallToken(gateway.app, id)
  agent = new ScriptedAgent({ url: gateway.url, nodeId: id, token, headers: { 'x-forwarded-for': forwardedFor } })
  await agent.exchange()
  await agent.connect()
  const [row] = await gateway.app.database.db.select().from(node).where(eq(node.id, id))
  return row?.address
}

test('the address of an agent is the one that a trusted proxy reports', async () => {
  expect(await storedAddress(['127.0.0.1'], '203.0.113.9')).toBe('203.0.113.9')
})

test('the forwarded address that the trusted proxy itself wrote counts if there are several', async () => {
  expect(await storedAddress(['127.0.0.1'], '198.51.100.1, 203.0.113.9')).toBe('203.0.113.9')
})

test('an agent without a trusted proxy in front cannot choose its address', async () => {
  expect(await storedAddress(['192.0.2.0/24'], '203.0.113.9')).toBe('127.0.0.1')
})

test('a forwarded address that is malformed is not stored', async () => {
  expect(await storedAddress(['127.0.0.1'], '<script>alert(1)</script>')).toBe('127.0.0.1')
})

test('an idle link sends a message without a command before a proxy closes it as inactive', async () => {
  vi.useFakeTimers()
  const link = new Link({ nodeId: 'n', teamId: 't', info: {} } as never, true)
  const messages = link.outgoing(new AbortController().signal)
  link.welcome({ serverVersion: '1.0.0', supported: true, positions: [] })
  expect((await messages.next()).value).toMatchObject({ command: { case: 'welcome' } })
  for (let round = 0; round < 3; round++) {
    const next = messages.next()
    await vi.advanceTimersByTimeAsync(20_000)
    const { value, done } = await Promise.race([next, Promise.reject(new Error('nothing was sent within 20 s'))])
    expect({ value, done }).toEqual({ value: {}, done: false })
  }
  const next = messages.next()
  link.send({ case: 'stopStream', value: { streamId: 's' } })
  expect((await next).value).toMatchObject({ command: { case: 'stopStream' } })
  const last = messages.next()
  // Other files of this process may have timers of their own.
  const before = vi.getTimerCount()
  link.end()
  expect(await last).toMatchObject({ done: true })
  expect(vi.getTimerCount()).toBe(before - 1)
})
