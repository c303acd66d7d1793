import { Code, ConnectError } from '@connectrpc/connect'
import { UpdateStage, UpdateState } from '@crux/agent-protocol'
import type { TestDatabase } from '@crux/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import {
  actor,
  eventually,
  makeDatabase,
  makeGateway,
  makeLinkedAgent,
  makeTeam,
  type TestGateway,
} from '../../test/make-gateway.ts'
import { ScriptedAgent } from '../../test/scripted-agent.ts'
import type { Caller } from '../access/actor.ts'
import { kickNode, revokeToken } from '../nodes/actions.ts'
import { createLocalAgents } from '../nodes/local-agents.ts'
import { findNodeOfAnyTeam, toNode } from '../nodes/store.ts'
import { describeUpdate, failOverdue, updateAgent } from '../nodes/updates.ts'

/** The protocol of docs/agent-update.md, with agents that follow the test. apps/agent/test/update.test.ts has the real ones. */
let database: TestDatabase
let gateway: TestGateway
let caller: Caller
const agents: ScriptedAgent[] = []
const gateways: TestGateway[] = []

const start = async () => {
  const made = await makeGateway({ databaseUrl: database.url })
  gateways.push(made)
  return made
}
beforeAll(async () => {
  database = await makeDatabase()
})
afterAll(() => database.drop())
beforeEach(async () => {
  gateway = await start()
  caller = { team: await makeTeam(gateway.app), actor } as Caller
})
afterEach(async () => {
  for (const agent of agents.splice(0)) agent.cut()
  for (const each of gateways.splice(0)) await each.stop()
})

const query = (text: string, values: unknown[]) => gateway.app.database.pool.query(text, values)
const getCode = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => ConnectError.from(error).code,
  )
const readNode = async (id: string) => {
  const row = await findNodeOfAnyTeam(gateway.app, id)
  if (!row) throw new Error('no node')
  return toNode(row)
}
const listEvents = async (id: string) =>
  (await query('select event, data from crux.node_event where node_id = $1 order by created_at, id', [id])).rows
const makeOverdue = (id: string) =>
  query(`update crux.node_update set deadline_at = now() - interval '1 second' where node_id = $1`, [id])

/** A node whose agent can be replaced and has the previous version. */
async function makeOldAgent(info: { version?: string; updatable?: boolean } = {}) {
  const { node, agent: first } = await makeLinkedAgent(gateway, caller.team)
  first.cut()
  const agent = connectAs(node.id, first.token, { version: '1.0.0-old', updatable: true, ...info })
  await agent.connect()
  return { node, agent }
}
function connectAs(nodeId: string, token: string, info: { version?: string; updatable?: boolean } = {}, at = gateway) {
  const agent = new ScriptedAgent({ url: at.url, nodeId, token, info: { updatable: true, ...info } })
  agents.push(agent)
  return agent
}
/** An update that has been started, and the new agent with the token of the command. */
async function startUpdate() {
  const { node, agent: old } = await makeOldAgent()
  await updateAgent(gateway.app, caller, node.id)
  const { value } = await old.command('updateAgent')
  const next = connectAs(node.id, value.token)
  const report = async (stage: UpdateStage, error = '') =>
    (await old.client.reportUpdate({ updateId: value.updateId, stage, error })).state
  /** The token of a failed update is refused unread, unless this process has seen it before. */
  const takeOver = async (previousEnded = false, agent = next) => {
    try {
      return (await agent.client.takeOver({ updateId: value.updateId, info: agent.info, previousEnded })).state
    } catch (error) {
      if (ConnectError.from(error).code !== Code.Unauthenticated) throw error
      return UpdateState.FAILED
    }
  }
  return { node, old, next, updateId: value.updateId, report, takeOver }
}

test('the new agent takes over once the old one has closed its journal, and the token of the old one is invalid then', async () => {
  const { node, old, next, report, takeOver } = await startUpdate()
  expect(await readNode(node.id)).toMatchObject({ status: 'updating', updatable: false })
  expect(await report(UpdateStage.WAITING)).toBe(UpdateState.PREPARING)
  expect(await getCode(next.connect())).toBe(Code.Unauthenticated)
  expect(await takeOver()).toBe(UpdateState.READY)
  expect(await getCode(next.connect())).toBe(Code.Unauthenticated)
  expect(await report(UpdateStage.WAITING)).toBe(UpdateState.READY)
  expect(await report(UpdateStage.CLOSED)).toBe(UpdateState.CLOSED)
  old.cut()
  expect(await takeOver()).toBe(UpdateState.CLOSED)
  await next.connect()
  const again = connectAs(node.id, old.token)
  expect(await getCode(again.connect())).toBe(Code.Unauthenticated)
  expect((await again.client.reportUpdate({ updateId: (await old.command('updateAgent')).value.updateId })).state).toBe(
    UpdateState.COMPLETED,
  )
  expect(await takeOver()).toBe(UpdateState.COMPLETED)
  expect(await readNode(node.id)).toMatchObject({ status: 'connected', version: '1.0.0', updatable: false })
  expect(await listEvents(node.id)).toEqual(
    expect.arrayContaining([
      { event: 'update', data: { fromVersion: '1.0.0-old', tag: '1.0.0' } },
      { event: 'updateCompleted', data: { startedBy: { id: actor.id, name: actor.name }, toVersion: '1.0.0' } },
    ]),
  )
  // The token is not replaced again at once.
  expect(next.received.map(({ command }) => command.case)).toEqual(['welcome'])
})

test('an error of the old agent fails the update, with the reason for the page and the events', async () => {
  const { node, old, next, report, takeOver } = await startUpdate()
  expect(await report(UpdateStage.WAITING, 'The registry has no such image')).toBe(UpdateState.FAILED)
  expect(await takeOver()).toBe(UpdateState.FAILED)
  expect(await getCode(next.connect())).toBe(Code.Unauthenticated)
  expect(await describeUpdate(gateway.app, node.id)).toMatchObject({
    state: 'failed',
    error: 'The registry has no such image',
  })
  expect(await readNode(node.id)).toMatchObject({ status: 'connected', updatable: true })
  expect(await listEvents(node.id)).toContainEqual({
    event: 'update',
    data: { fromVersion: '1.0.0-old', error: 'The registry has no such image' },
  })
  await updateAgent(gateway.app, caller, node.id)
  await old.command('updateAgent', 2)
})

test('an update that starts before the end of the last one was noticed is sent to the agent', async () => {
  const { node, old, updateId } = await startUpdate()
  await query(`update crux.node_update set state = 'failed', token = null, ended_at = now() where id = $1`, [updateId])
  await updateAgent(gateway.app, caller, node.id)
  expect((await old.command('updateAgent', 2)).value.updateId).not.toBe(updateId)
})

test('a new agent that never connects does not get the node: after the deadline the old one keeps it', async () => {
  const { node, old, next, report, takeOver } = await startUpdate()
  await takeOver()
  await report(UpdateStage.CLOSED)
  old.cut()
  await makeOverdue(node.id)
  // Also before a server process has noticed it.
  expect(await getCode(next.connect())).toBe(Code.Unauthenticated)
  await failOverdue(gateway.app)
  expect(await takeOver()).toBe(UpdateState.FAILED)
  const back = connectAs(node.id, old.token, { version: '1.0.0-old' })
  await back.connect()
  expect(await readNode(node.id)).toMatchObject({ status: 'connected', version: '1.0.0-old', updatable: true })
  expect((await describeUpdate(gateway.app, node.id))?.error).toContain('within 300 seconds')
})

test('a new agent of a version that the server does not support fails the update', async () => {
  const { node, old, report, takeOver } = await startUpdate()
  const { token } = (await old.command('updateAgent')).value
  const wrong = connectAs(node.id, token, { version: '0.8.0' })
  expect(await takeOver(false, wrong)).toBe(UpdateState.FAILED)
  expect(await report(UpdateStage.WAITING)).toBe(UpdateState.FAILED)
  expect((await describeUpdate(gateway.app, node.id))?.error).toContain('version 0.8.0')
})

test('the new agent takes over without an old agent that was killed for good', async () => {
  const { node, old, next, takeOver } = await startUpdate()
  old.cut()
  expect(await takeOver(true)).toBe(UpdateState.CLOSED)
  await next.connect()
  expect(await readNode(node.id)).toMatchObject({ status: 'connected', version: '1.0.0' })
})

test('an old agent that starts again fails the update, but not once its journal is closed', async () => {
  const first = await startUpdate()
  expect(await first.report(UpdateStage.RESTARTED)).toBe(UpdateState.FAILED)
  const second = await startUpdate()
  await second.takeOver()
  await second.report(UpdateStage.CLOSED)
  expect(await second.report(UpdateStage.RESTARTED)).toBe(UpdateState.CLOSED)
  await second.next.connect()
  expect(await second.report(UpdateStage.RESTARTED)).toBe(UpdateState.COMPLETED)
})

test('an update survives that the server restarts, and another server process may carry out each step', async () => {
  const other = await start()
  const { node, agent: old } = await makeOldAgent()
  await updateAgent(other.app, caller, node.id)
  const { updateId, token } = (await old.command('updateAgent')).value
  const next = connectAs(node.id, token, {}, other)
  const takeOver = async () => (await next.client.takeOver({ updateId, info: next.info })).state
  expect(await takeOver()).toBe(UpdateState.READY)
  gateways.splice(gateways.indexOf(gateway), 1)
  await gateway.crash()
  gateway = other
  old.cut()
  const back = connectAs(node.id, old.token, { version: '1.0.0-old' })
  expect((await back.client.reportUpdate({ updateId, stage: UpdateStage.CLOSED })).state).toBe(UpdateState.CLOSED)
  expect(await takeOver()).toBe(UpdateState.CLOSED)
  await next.connect()
  expect(await readNode(node.id)).toMatchObject({ status: 'connected', version: '1.0.0' })
})

test('an old agent that reconnects gets the command again, as long as the new one has not appeared', async () => {
  const { node, old, updateId, takeOver } = await startUpdate()
  old.cut()
  const back = connectAs(node.id, old.token)
  await back.connect()
  expect((await back.command('updateAgent')).value.updateId).toBe(updateId)
  await takeOver()
  back.cut()
  const third = connectAs(node.id, old.token)
  await third.connect()
  expect(third.received.map(({ command }) => command.case)).toEqual(['welcome'])
})

test('an agent below the minimum version gets the command to update, and nothing else', async () => {
  const { node, agent } = await makeOldAgent({ version: '0.9.0' })
  expect(await readNode(node.id)).toMatchObject({ status: 'outdated', updatable: true })
  await updateAgent(gateway.app, caller, node.id)
  await agent.command('updateAgent')
  expect(gateway.links.send(node.id, { case: 'listContainers', value: {} })).toBe(false)
})

test('releases wait while an agent is updated, and are dispatched when the update has failed', async () => {
  const dispatched: string[] = []
  gateway.app.bus.on('node.work', ({ nodeId }) => dispatched.push(nodeId))
  const { node, report } = await startUpdate()
  expect(gateway.links.deploy(node.id, {})).toBe(false)
  await report(UpdateStage.WAITING, 'no image')
  await eventually(
    () => dispatched,
    (nodes) => nodes.includes(node.id),
  )
  expect(gateway.links.deploy(node.id, {})).toBe(true)
})

test('an update is refused with the reason', async () => {
  const refusal = (nodeId: string) => updateAgent(gateway.app, caller, nodeId).catch((error: unknown) => error)
  const fixed = await makeOldAgent({ updatable: false })
  expect(await refusal(fixed.node.id)).toMatchObject({ code: 'preconditionFailed', property: 'id' })
  const current = await makeOldAgent({ version: '1.0.0' })
  expect(await refusal(current.node.id)).toMatchObject({ code: 'preconditionFailed', property: 'id' })
  const { node, old } = await startUpdate()
  expect(await refusal(node.id)).toMatchObject({ message: expect.stringContaining('is being updated already') })
  const gone = await makeOldAgent()
  gone.agent.cut()
  await eventually(
    () => readNode(gone.node.id),
    ({ status }) => status === 'unreachable',
  )
  expect(await refusal(gone.node.id)).toMatchObject({ code: 'notFound', property: 'agent' })
  const stranger = { ...caller, team: await makeTeam(gateway.app) }
  expect(await updateAgent(gateway.app, stranger, node.id).catch((error: unknown) => error)).toMatchObject({
    code: 'notFound',
    property: 'id',
  })
  old.cut()
})

test('the token of an update is good for its own node and calls alone', async () => {
  const { next, report, takeOver, updateId } = await startUpdate()
  const other = await makeOldAgent()
  await takeOver()
  await report(UpdateStage.CLOSED)
  expect(await getCode(next.client.confirmToken({}))).toBe(Code.Unauthenticated)
  expect(await getCode(next.client.reportUpdate({ updateId, stage: UpdateStage.CLOSED }))).toBe(Code.Unauthenticated)
  // The agent of another node reports nothing about this update.
  expect((await other.agent.client.reportUpdate({ updateId, error: 'stop it' })).state).toBe(UpdateState.FAILED)
  next.info.nodeId = other.node.id
  expect(await getCode(next.connect())).toBe(Code.Unauthenticated)
  expect(await takeOver()).toBe(UpdateState.CLOSED)
})

test('disconnecting the agent or revoking its token ends the update', async () => {
  const localAgents = createLocalAgents(gateway.app)
  const kicked = await startUpdate()
  await kicked.takeOver()
  await kickNode(gateway.app, localAgents, caller, kicked.node.id)
  expect(await kicked.takeOver(true)).toBe(UpdateState.FAILED)
  const revoked = await startUpdate()
  await revokeToken(gateway.app, localAgents, caller, revoked.node.id)
  expect(await revoked.takeOver(true)).toBe(UpdateState.FAILED)
  expect(await getCode(revoked.report(UpdateStage.CLOSED))).toBe(Code.Unauthenticated)
})
