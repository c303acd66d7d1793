import type { TestDatabase } from '@crux/postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  makeDatabase,
  makeGateway,
  makeInstallToken,
  makeNode,
  makeTeam,
  type TestGateway,
} from '../../test/make-gateway.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'

let database: TestDatabase
let gateway: TestGateway
beforeAll(async () => {
  database = await makeDatabase()
  gateway = await makeGateway({ databaseUrl: database.url })
})
afterAll(async () => {
  await gateway.stop()
  await database.drop()
})

test('a call is served that arrives at the moment in which its token is replaced', async () => {
  const team = await makeTeam(gateway.app)
  const row = await makeNode(gateway.app, team)
  const token = await makeInstallToken(gateway.app, row.id)
  const agent = new ScriptedAgent({ url: gateway.url, nodeId: row.id, token })
  await agent.exchange()
  await agent.connect()
  const previous = agent.token
  agent.useToken((await agent.command('rotateToken')).value.token)
  const { pool } = gateway.app.database
  const { query } = pool
  const stored = Promise.withResolvers<void>()
  const continueTo = Promise.withResolvers<void>()
  // The previous token is invalid, and the process that replaced it has not received the result yet.
  pool.query = (async (...args: unknown[]) => {
    const answer = await (query as (...all: unknown[]) => unknown).apply(pool, args)
    if (/^update crux.node_token\s+set hash/.test((args[0] as { text?: string }).text ?? '')) {
      stored.resolve()
      await continueTo.promise
    }
    return answer
  }) as typeof query
  try {
    const confirmed = agent.client.confirmToken({})
    await stored.promise
    agent.useToken(previous)
    await expect(agent.client.respond({ commandId: 'x' })).resolves.toBeDefined()
    continueTo.resolve()
    await confirmed
  } finally {
    pool.query = query
    agent.cut()
  }
})
