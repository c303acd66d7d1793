import type { TestDatabase } from '@crux/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeDatabase, makeGateway, makeLinkedAgent, makeTeam, type TestGateway } from '../../test/make-gateway.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'
import type { TeamContext } from '../access/actor.ts'
import { downloadLog } from './download-log.ts'

let database: TestDatabase
let gateway: TestGateway
let team: TeamContext
let agent: ScriptedAgent
let nodeId: string

beforeAll(async () => {
  database = await makeDatabase()
  gateway = await makeGateway({ databaseUrl: database.url })
  team = await makeTeam(gateway.app)
})
afterAll(async () => {
  await gateway.stop()
  await database.drop()
})
beforeEach(async () => {
  const made = await makeLinkedAgent(gateway, team)
  agent = made.agent
  nodeId = made.node.id
})
afterEach(() => agent.cut())

const web = { prefix: 'shop', name: 'web' }
const line = (index: number) => ({
  at: { seconds: BigInt(1_700_000_000 + index), nanos: 123_000_000 },
  text: `line ${index}`,
})

test('a download requests more when its reader has consumed the last part, and ends at the agent with its reader', async () => {
  const closed: (() => void)[] = []
  const opening = downloadLog(gateway.app, { team }, nodeId, { container: web }, (close) => closed.push(close))
  const { value } = await agent.command('followLog')
  expect(value).toMatchObject({ whole: true, take: 0 })
  const stream = agent.streamLog(value.streamId)
  await stream.send([line(0)])
  const parts = (await opening)[Symbol.asyncIterator]()
  const next = async () => Buffer.from((await parts.next()).value ?? '').toString()
  expect(await next()).toBe('2023-11-14T22:13:20.123000000Z line 0\n')
  await stream.send([line(1), line(2)])
  expect(await next()).toContain('line 1\n2023-11-14T22:13:22.123000000Z line 2\n')
  for (const close of closed) close()
  expect((await agent.command('stopStream')).value.streamId).toBe(value.streamId)
  expect(await parts.next()).toMatchObject({ done: true })
})

test('a download breaks off when the link ends before the log does', async () => {
  const opening = downloadLog(gateway.app, { team }, nodeId, { container: web }, () => undefined)
  await agent.streamLog((await agent.command('followLog')).value.streamId).send([line(0)])
  const parts = (await opening)[Symbol.asyncIterator]()
  await parts.next()
  agent.cut()
  await expect(parts.next()).rejects.toThrow()
})
