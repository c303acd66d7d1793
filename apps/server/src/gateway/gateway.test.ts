import { connect as connectHttp2, type IncomingHttpHeaders } from 'node:http2'
import { Code, ConnectError } from '@connectrpc/connect'
import { FailureCode } from '@crux/agent-protocol'
import type { TestDatabase } from '@crux/postgres'
import { eq } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  actor,
  eventually,
  makeDatabase,
  makeGateway,
  makeInstallToken,
  makeLinkedAgent,
  makeNode,
  makeTeam,
  type TestGateway,
} from '../../test/make-gateway.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import type { TeamContext } from '../access/actor.ts'
import { node, nodeEvent, nodeInstall, nodeToken } from '../db/schema/index.ts'
import { kickNode, revokeToken } from '../nodes/actions.ts'
import { createLocalAgents } from '../nodes/local-agents.ts'

let database: TestDatabase
let gateway: TestGateway
let team: TeamContext
const agents: ScriptedAgent[] = []

beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  gateway = await makeGateway({ databaseUrl: database.url })
  team = await makeTeam(gateway.app)
})
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.cut()
  await gateway.stop()
})

const track = (agent: ScriptedAgent) => {
  agents.push(agent)
  return agent
}
const linked = async () => {
  const made = await makeLinkedAgent(gateway, team)
  track(made.agent)
  return made
}
const fresh = async () => {
  const row = await makeNode(gateway.app, team)
  const token = await makeInstallToken(gateway.app, row.id)
  return { row, agent: track(new ScriptedAgent({ url: gateway.url, nodeId: row.id, token })) }
}
const getCode = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  )
const readNode = async (id: string) => (await gateway.app.database.db.select().from(node).where(eq(node.id, id)))[0]
const listEvents = async (id: string) =>
  (
    await gateway.app.database.db
      .select()
      .from(nodeEvent)
      .where(eq(nodeEvent.nodeId, id))
      .orderBy(nodeEvent.createdAt, nodeEvent.id)
  ).map(({ event }) => event)
const localAgents = () => createLocalAgents(gateway.app)

test('an agent exchanges its install token, connects, and is asked to rotate its token at once', async () => {
  const { row, agent } = await fresh()
  await agent.exchange()
  const welcome = await agent.connect()
  expect(welcome.command).toMatchObject({ case: 'welcome', value: { supported: true, serverVersion: '1.0.0' } })
  const { value } = await agent.command('rotateToken')
  const previous = agent.token
  agent.useToken(value.token)
  await agent.client.confirmToken({})
  const stolen = track(new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: previous }))
  expect(await getCode(stolen.connect())).toBe(Code.Unauthenticated)
  expect(await readNode(row.id)).toMatchObject({
    linkServer: gateway.links.serverId,
    engineVersion: 'Docker 28.0.0',
    address: '127.0.0.1',
  })
  expect(await listEvents(row.id)).toEqual(['installed', 'connected', 'tokenReplaced'])
  expect(gateway.port.linkedAgents.map(({ nodeId }) => nodeId)).toContain(row.id)
})

test('the same agent may repeat an exchange whose answer was lost, until the new token was used', async () => {
  const { row, agent } = await fresh()
  const installToken = agent.token
  await agent.exchange()
  agent.useToken(installToken)
  await agent.exchange()
  await agent.connect()
  const again = track(new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: installToken }))
  expect(await getCode(again.exchange())).toBe(Code.Unauthenticated)
  expect(await listEvents(row.id)).toEqual(['installed', 'connected'])
})

test('no other agent can exchange an install token a second time', async () => {
  const { row, agent } = await fresh()
  const thief = track(
    new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: agent.token, info: { publicKey: 'of a thief' } }),
  )
  await agent.exchange()
  expect(await getCode(thief.exchange())).toBe(Code.Unauthenticated)
  await agent.connect()
})

test('an agent that was given only a token learns its node at the exchange', async () => {
  const { row, agent } = await fresh()
  agent.info.nodeId = ''
  expect(await agent.client.exchange({ info: agent.info })).toMatchObject({ nodeId: row.id })
  agent.info.nodeId = 'no id at all'
  expect(await getCode(agent.exchange())).toBe(Code.Unauthenticated)
})

test('an expired install token and one of another node are refused', async () => {
  const { row, agent } = await fresh()
  const other = await makeNode(gateway.app, team)
  const elsewhere = track(new ScriptedAgent({ url: gateway.url, nodeId: other.id, token: agent.token }))
  expect(await getCode(elsewhere.exchange())).toBe(Code.Unauthenticated)
  await gateway.app.database.db
    .update(nodeInstall)
    .set({ expiresAt: new Date(Date.now() - 1_000) })
    .where(eq(nodeInstall.nodeId, row.id))
  expect(await getCode(agent.exchange())).toBe(Code.Unauthenticated)
})

test('a token connects its own node only, and an agent without a token is refused', async () => {
  const { agent } = await linked()
  const other = await makeNode(gateway.app, team)
  const imposter = track(new ScriptedAgent({ url: gateway.url, nodeId: other.id, token: agent.token }))
  expect(await getCode(imposter.connect())).toBe(Code.Unauthenticated)
  const stranger = track(new ScriptedAgent({ url: gateway.url, nodeId: other.id, token: `crux_${'a'.repeat(43)}` }))
  expect(await getCode(stranger.connect())).toBe(Code.Unauthenticated)
  expect(await getCode(stranger.client.reportDeployment({}))).toBe(Code.Unauthenticated)
  expect((await readNode(other.id))?.linkServer).toBeNull()
})

test('a new token that the agent used without confirming replaces the old one, and a lost one is sent again', async () => {
  const { row, agent } = await fresh()
  await agent.exchange()
  await agent.connect()
  const first = await agent.command('rotateToken')
  agent.cut()
  const back = track(new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: agent.token }))
  await back.connect()
  const second = await back.command('rotateToken')
  expect(second.value.token).toBe(first.value.token)
  back.cut()
  const later = track(new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: first.value.token }))
  await later.connect()
  const [token] = await gateway.app.database.db.select().from(nodeToken).where(eq(nodeToken.nodeId, row.id))
  expect(token).toMatchObject({ nextHash: null, nextToken: null })
})

test('a call that started before its token was replaced is served, but not once the token is revoked', async () => {
  const { row, agent } = await fresh()
  await agent.exchange()
  await agent.connect()
  const previous = agent.token
  agent.useToken((await agent.command('rotateToken')).value.token)
  await agent.client.confirmToken({})
  agent.useToken(previous)
  let taken = 0
  await gateway.links.watchContainers(row.id, {}, { message: () => void taken++, ended: () => undefined })
  const stream = agent.streamContainers((await agent.command('watchContainers')).value.streamId)
  await stream.send(true, [])
  await eventually(
    () => taken,
    (count) => count === 1,
  )
  await revokeToken(gateway.app, localAgents(), { team, actor }, row.id)
  expect(await getCode(agent.client.respond({ commandId: 'x' }))).toBe(Code.Unauthenticated)
})

test('revoking a token ends the link, its streams and every further call at once', async () => {
  const { node: row, agent } = await linked()
  const ended = Promise.withResolvers<Error | undefined>()
  let taken = 0
  await gateway.links.followLog(
    row.id,
    { container: { prefix: '', name: 'web' }, take: 10 },
    { message: () => void taken++, ended: ended.resolve },
  )
  const { value } = await agent.command('followLog')
  const stream = agent.streamLog(value.streamId)
  await stream.send([{ text: 'one' }])
  await eventually(
    () => taken,
    (count) => count === 1,
  )
  const asked = gateway.links.request(row.id, { case: 'listContainers', value: {} })
  const refused = expect(asked).rejects.toMatchObject({ code: 'notFound', property: 'agent' })
  await revokeToken(gateway.app, localAgents(), { team, actor }, row.id)
  expect((await agent.command('closeLink')).value.reason).toBe(2)
  expect(await agent.ended).toBe('ended')
  await refused
  expect(await ended.promise).toMatchObject({ property: 'agent' })
  await stream.done
  expect(await getCode(agent.connect())).toBe(Code.Unauthenticated)
  expect(await getCode(agent.client.reportDeployment({}))).toBe(Code.Unauthenticated)
  expect(await listEvents(row.id)).toContain('kicked')
  await eventually(
    () => readNode(row.id),
    (found) => found?.linkServer === null,
  )
})

test('a kicked agent is asked to stop and keeps its token', async () => {
  const { node: row, agent } = await linked()
  await kickNode(gateway.app, localAgents(), { team, actor }, row.id)
  expect((await agent.command('closeLink')).value.reason).toBe(1)
  await agent.ended
  await agent.connect()
  expect(gateway.links.status(row.id)).toBe('connected')
})

test('a newer link of a node replaces the older one', async () => {
  const { node: row, agent } = await linked()
  const second = track(new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: agent.token }))
  await second.connect()
  expect((await agent.command('closeLink')).value.reason).toBe(3)
  await agent.ended
  expect(gateway.links.agent(row.id)?.info.sessionId).toBe(second.info.sessionId)
  expect((await readNode(row.id))?.linkServer).toBe(gateway.links.serverId)
})

test('a lost connection is detected at once, and reported to deployments', async () => {
  const { node: row, agent } = await linked()
  agent.cut()
  await eventually(
    () => readNode(row.id),
    (found) => found?.linkServer === null,
  )
  expect(gateway.links.status(row.id)).toBe('unreachable')
  expect(gateway.port.lostAgents.map(({ nodeId }) => nodeId)).toContain(row.id)
  await expect(gateway.links.request(row.id, { case: 'listContainers', value: {} })).rejects.toMatchObject({
    code: 'notFound',
    property: 'agent',
  })
  await eventually(
    () => listEvents(row.id),
    (events) => events.includes('left'),
  )
})

test('a link that ends while an event of its node is in transit is not recorded again', async () => {
  for (let round = 0; round < 15; round++) {
    const { node: row, agent } = await linked()
    agent.cut()
    await eventually(
      () => listEvents(row.id),
      (events) => events.includes('left'),
    )
    // Well before the next heartbeat, which would clear it.
    await eventually(
      () => readNode(row.id),
      (found) => found?.linkServer === null,
      1_500,
    )
  }
})

test('an outdated agent stays connected, shows as outdated and gets no commands', async () => {
  const { row, agent } = await fresh()
  agent.info.version = '0.9.3'
  await agent.exchange()
  const welcome = await agent.connect()
  expect(welcome.command).toMatchObject({ case: 'welcome', value: { supported: false } })
  expect(gateway.links.status(row.id)).toBe('outdated')
  expect(gateway.links.deploy(row.id, {})).toBe(false)
  await expect(gateway.links.request(row.id, { case: 'listContainers', value: {} })).rejects.toMatchObject({
    code: 'preconditionFailed',
    property: 'id',
  })
})

test('answers reach the caller of the command, and failures are errors of the catalogue', async () => {
  const { node: row, agent } = await linked()
  const asked = gateway.links.request(row.id, { case: 'inspectContainer', value: { container: { name: 'web' } } })
  const first = await agent.command('inspectContainer')
  await agent.respond(first.commandId, { case: 'inspection', value: { json: '{}' } })
  expect(await asked).toMatchObject({ case: 'inspection', value: { json: '{}' } })

  const missing = gateway.links.request(row.id, { case: 'inspectContainer', value: { container: { name: 'no' } } })
  const second = await agent.command('inspectContainer', 2)
  const refused = expect(missing).rejects.toMatchObject({ code: 'notFound', property: 'key' })
  await agent.respond(second.commandId, {
    case: 'failure',
    value: { code: FailureCode.NOT_FOUND, message: 'no such container' },
  })
  await refused
})

test("an agent cannot answer another agent's command or write to its streams", async () => {
  const { node: row, agent } = await linked()
  const other = await linked()
  let taken = 0
  const asked = gateway.links.request(row.id, { case: 'inspectContainer', value: { container: { name: 'web' } } })
  const { commandId } = await agent.command('inspectContainer')
  await other.agent.respond(commandId, { case: 'inspection', value: { json: '{"said":"forged"}' } })
  await gateway.links.watchContainers(row.id, {}, { message: () => void taken++, ended: () => undefined })
  const { value } = await agent.command('watchContainers')
  const forged = other.agent.streamContainers(value.streamId)
  await forged.send(true, [])
  await forged.done
  await agent.respond(commandId, { case: 'inspection', value: { json: '{"said":"true"}' } })
  expect(await asked).toMatchObject({ value: { json: '{"said":"true"}' } })
  expect(taken).toBe(0)
})

test('a slow reader slows the agent down instead of filling the memory', async () => {
  const { node: row, agent } = await linked()
  const gate = Promise.withResolvers<void>()
  let taken = 0
  await gateway.links.followLog(
    row.id,
    { container: { name: 'web' }, take: 10 },
    {
      message: async () => {
        taken++
        await gate.promise
      },
      ended: () => undefined,
    },
  )
  const stream = agent.streamLog((await agent.command('followLog')).value.streamId)
  const text = 'x'.repeat(10_000)
  let sent = 0
  const sending = (async () => {
    for (let batch = 0; batch < 60; batch++) {
      await stream.send(Array.from({ length: 10 }, () => ({ text })))
      sent++
    }
  })()
  const stuck = await eventually(
    async () => {
      const before = sent
      await new Promise((resolve) => setTimeout(resolve, 100))
      return { moved: sent - before, sent }
    },
    ({ moved, sent: total }) => moved === 0 && total > 0,
  )
  expect(stuck.sent).toBeLessThan(60)
  expect(taken).toBe(1)
  gate.resolve()
  await sending
  await eventually(
    () => taken,
    (count) => count === 60,
  )
})

test("a deployment's journal is stored under the token's node, and Welcome has the stored positions", async () => {
  const { node: row, agent } = await linked()
  gateway.port.answer = 12n
  const release = { deploymentId: '0199', number: 2 }
  const answer = await agent.client.reportDeployment({ release, events: [{ sequence: 12n }] })
  expect(answer.acknowledgedSequence).toBe(12n)
  expect(gateway.port.reports).toMatchObject([{ nodeId: row.id, batch: { release } }])
  agent.cut()
  const back = track(
    new ScriptedAgent({ url: gateway.url, nodeId: row.id, token: agent.token, info: { openReleases: [release] } }),
  )
  const welcome = await back.connect()
  expect(welcome.command).toMatchObject({ value: { positions: [{ release, acknowledgedSequence: 7n }] } })
})

test.each([
  ['no token', undefined],
  ['a token that nobody has', `Bearer crux_${'x'.repeat(43)}`],
])('a message with %s is answered before it was sent, and not accepted', async (_what, authorization) => {
  const session = connectHttp2(gateway.url)
  const stream = session.request(
    {
      ':method': 'POST',
      ':path': '/crux.agent.v1.AgentService/Exchange',
      'content-type': 'application/grpc',
      te: 'trailers',
      ...(authorization && { authorization }),
    },
    { endStream: false },
  )
  const message = Buffer.alloc(8 * 1_048_576)
  // The length of a message that is longer than the bytes that are sent.
  message.writeUInt32BE(16 * 1_048_576 - 5, 1)
  stream.write(message)
  stream.on('error', () => undefined)
  const headers = await new Promise<IncomingHttpHeaders>((resolve) => stream.once('response', resolve))
  expect(headers).toMatchObject({ ':status': 200, 'grpc-status': String(Code.Unauthenticated) })
  await new Promise((resolve) => stream.once('close', resolve))
  session.destroy()
})
