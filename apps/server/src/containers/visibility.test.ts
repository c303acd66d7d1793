import { ContainerState } from '@crux/agent-protocol'
import type { TestDatabase } from '@crux/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { makeSubscriber } from '../../test/fake-subscriber.ts'
import {
  makeDatabase,
  makeGateway,
  makeLinkedAgent,
  makeNode,
  makeTeam,
  type TestGateway,
} from '../../test/make-gateway.ts'
import type { ScriptedAgent } from '../../test/scripted-agent.ts'
import type { TeamContext } from '../access/actor.ts'
import { deleteNode } from '../nodes/actions.ts'
import { engineScope } from '../nodes/engine-scope-store.ts'
import type { LocalAgents } from '../nodes/local-agents.ts'
import { listContainers } from './actions.ts'
import { nodeChannel } from './channel.ts'

/** The visibility of containers on an engine that others use as well. */
let database: TestDatabase
let gateway: TestGateway
let team: TeamContext
let agent: ScriptedAgent
let nodeId: string
let channel: ReturnType<typeof nodeChannel>

beforeAll(async () => {
  database = await makeDatabase()
  gateway = await makeGateway({ databaseUrl: database.url })
  team = await makeTeam(gateway.app)
  channel = nodeChannel(gateway.app)
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

/** No local agent runs here. */
const localAgents = () => ({ dismiss: async () => undefined }) as unknown as LocalAgents
const listNames = (message: unknown) =>
  (message as { containers: { id: { name: string } }[] }).containers.map(({ id }) => id.name)
const container = (prefix: string, name: string) => ({
  ref: { prefix, name },
  engineId: `id of ${prefix}-${name}`,
  state: ContainerState.RUNNING,
  engineState: 'running',
  imageName: 'nginx',
  imageTag: '1',
  owned: true,
})
/** A container with more data than it should show. */
const foreign = (name: string) => ({
  ...container('', name),
  labels: { secret: 'label' },
  owned: false,
  command: 'secret command',
  createdAt: { seconds: 1_700_000_000n, nanos: 0 },
  startedAt: { seconds: 1_700_000_000n, nanos: 0 },
  exitCode: 3,
  restartCount: 4,
  health: 'healthy',
  ports: [{ internal: 80, external: 8080, protocol: 'tcp' }],
})
const outline = (name: string) => ({
  id: { prefix: '', name },
  command: '',
  createdAt: '1970-01-01T00:00:00.000Z',
  state: 'running',
  reason: 'running',
  imageName: 'nginx',
  imageTag: '1',
  ports: [],
  labels: {},
})

test('users see no containers of others, in lists and in a watch that admins share', async () => {
  const member = { ...team, role: 'user' as const }
  const listed = listContainers(gateway.app, makeSubscriber<'node'>(member, { nodeId }), { nodeId, prefix: '' })
  await agent.respond((await agent.command('listContainers')).commandId, {
    case: 'containers',
    value: { containers: [container('shop', 'web'), foreign('other')] },
  })
  expect((await listed).map(({ id }) => id.name)).toEqual(['shop-web'])

  const user = makeSubscriber<'node'>({ ...team, role: 'user' }, { nodeId })
  const admin = makeSubscriber<'node'>({ ...team, role: 'admin' }, { nodeId })
  await channel.messages['watch-containers-state'](user, {})
  await channel.messages['watch-containers-state'](admin, {})
  const stream = agent.streamContainers((await agent.command('watchContainers')).value.streamId)
  await stream.send(true, [container('shop', 'web'), foreign('other')])
  const seen = (await admin.waitFor('containers-state-list', (message) => listNames(message).length === 2)) as {
    containers: unknown[]
  }
  expect(seen.containers[1]).toEqual(outline('other'))
  expect(listNames(await user.waitFor('containers-state-list'))).toEqual(['shop-web'])
  const before = user.sent.length
  await stream.send(false, [{ ...foreign('other'), state: ContainerState.REMOVED }])
  await admin.waitFor('containers-state-list', (message) => listNames(message).length === 1)
  expect(user.sent).toHaveLength(before)
  expect(agent.received.filter(({ command }) => command.case === 'watchContainers')).toHaveLength(1)

  await stream.send(false, [foreign('another')])
  await admin.waitFor('containers-state-list', (message) => listNames(message).includes('another'))
  admin.setRole('user')
  expect(listNames(admin.sent.at(-1)?.data)).toEqual(['shop-web'])
  user.setRole('admin')
  expect(listNames(user.sent.at(-1)?.data)).toEqual(['shop-web', 'another'])
  user.leave()
  admin.leave()
})

test('the server queries the agent again with the ids of nodes that were deleted during a watch', async () => {
  const watcher = makeSubscriber<'node'>(team, { nodeId })
  await channel.messages['watch-containers-state'](watcher, {})
  const first = await agent.command('watchContainers')
  await agent.streamContainers(first.value.streamId).send(true, [])
  const gone = await makeNode(gateway.app, team)
  await deleteNode(gateway.app, localAgents(), watcher, gone.id)
  const second = await agent.command('watchContainers', 2)
  expect(second.value.scope?.deletedNodeIds[0]).toBe(gone.id)
  const stranger = await makeTeam(gateway.app)
  expect((await engineScope(gateway.app, { teamId: stranger.id, nodeId })).deletedNodeIds).toEqual([])
  watcher.leave()
})
