import { ContainerState, FailureCode, Operation } from '@crux/agent-protocol'
import type { TestDatabase } from '@crux/postgres'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { makeSubscriber } from '../../test/fake-subscriber.ts'
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
import type { TeamContext } from '../access/actor.ts'
import { nodeEvent } from '../db/schema/index.ts'
import { deletePrefix, inspectContainer, listContainers, operateContainer, readLog } from './actions.ts'
import { nodeChannel } from './channel.ts'

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
afterEach(() => {
  vi.useRealTimers()
  agent.cut()
})

const subscribe = () => makeSubscriber<'node'>(team, { nodeId })
const container = (
  prefix: string,
  name: string,
  state = ContainerState.RUNNING,
  labels: Record<string, string> = {},
) => ({
  ref: { prefix, name },
  engineId: `id of ${prefix}-${name}`,
  state,
  engineState: state === ContainerState.EXITED ? 'exited' : 'running',
  reason: 'Up 4 minutes',
  imageName: 'nginx',
  imageTag: '1',
  labels,
  owned: true,
})
const listNames = (message: unknown) =>
  (message as { containers: { id: { name: string } }[] }).containers.map(({ id }) => id.name)
const line = (index: number, text = `line ${index}`) => ({
  at: { seconds: BigInt(1_700_000_000 + index), nanos: 123_000_000 },
  text,
})

test('lists the containers of a prefix by their short names, and with `_` all of the node by their full names', async () => {
  const listed = listContainers(gateway.app, { team, actor }, { nodeId, prefix: 'shop' })
  const first = await agent.command('listContainers')
  expect(first.value).toMatchObject({ prefix: 'shop', scope: { teamId: team.id, nodeId, deletedNodeIds: [] } })
  await agent.respond(first.commandId, {
    case: 'containers',
    value: {
      containers: [
        {
          ...container('shop', 'web'),
          createdAt: { seconds: 1_700_000_000n, nanos: 0 },
          ports: [
            { internal: 80, external: 8080, protocol: 'tcp' },
            { internal: 80, external: 8080, protocol: 'tcp' },
          ],
        },
      ],
    },
  })
  expect(await listed).toMatchObject([
    {
      id: { prefix: 'shop', name: 'web' },
      state: 'running',
      reason: 'running',
      status: 'Up 4 minutes',
      managed: { prefix: 'shop', name: 'web' },
      createdAt: '2023-11-14T22:13:20.000Z',
      ports: [{ internal: 80, external: 8080 }],
    },
  ])
  const global = listContainers(gateway.app, { team, actor }, { nodeId, prefix: '' })
  const second = await agent.command('listContainers', 2)
  await agent.respond(second.commandId, {
    case: 'containers',
    value: { containers: [container('shop', 'web')] },
  })
  const whole = await global
  expect(whole[0]).toMatchObject({
    id: { prefix: '', name: 'shop-web' },
    managed: { prefix: 'shop', name: 'web' },
    reason: 'running',
    status: 'Up 4 minutes',
  })
})

test("waits for the engine's answer to a command, reports its refusal, and records the caller", async () => {
  const ref = { prefix: 'shop', name: 'web' }
  const stopped = operateContainer(gateway.app, { team, actor }, nodeId, ref, 'stop')
  const { commandId, value } = await agent.command('operateContainer')
  expect(value).toMatchObject({ container: ref, operation: Operation.STOP, scope: { teamId: team.id, nodeId } })
  await agent.respond(commandId, { case: 'done', value: {} })
  await stopped
  const events = await gateway.app.database.db.select().from(nodeEvent)
  expect(events.filter((event) => event.nodeId === nodeId).at(-1)).toMatchObject({
    event: 'containerCommand',
    data: { container: ref, operation: 'stopContainer', user: { id: 'ada', name: 'Ada' } },
  })
  const started = operateContainer(gateway.app, { team, actor }, nodeId, ref, 'start')
  const refused = expect(started).rejects.toMatchObject({
    code: 'preconditionFailed',
    message: 'port 8080 is taken by ops-nginx',
  })
  await agent.respond((await agent.command('operateContainer', 2)).commandId, {
    case: 'failure',
    value: { code: FailureCode.ENGINE, message: 'port 8080 is taken by ops-nginx' },
  })
  await refused
})

test("deletes only this team's containers of a prefix", async () => {
  const deleted = deletePrefix(gateway.app, { team, actor }, { nodeId, prefix: 'shop' })
  const ours = { 'dev.crux.team': team.id, 'dev.crux.node': nodeId, 'dev.crux.project': 'p1' }
  await agent.respond((await agent.command('listContainers')).commandId, {
    case: 'containers',
    value: {
      containers: [
        container('shop', 'web', ContainerState.RUNNING, ours),
        { ...container('shop', 'theirs'), owned: false },
      ],
    },
  })
  const { commandId, value } = await agent.command('deleteContainers')
  expect(value).toMatchObject({
    container: { prefix: 'shop', name: 'web' },
    scope: { teamId: team.id, nodeId },
  })
  await agent.respond(commandId, { case: 'done', value: {} })
  await deleted
  expect(agent.received.filter(({ command }) => command.case === 'deleteContainers')).toHaveLength(1)
  await expect(deletePrefix(gateway.app, { team, actor }, { nodeId, prefix: '' })).rejects.toMatchObject({
    code: 'invalidArgument',
  })
})

test('reads the log as lines with their time, and the inspection as the engine returned it', async () => {
  const log = readLog(gateway.app, { team, actor }, nodeId, { prefix: '', name: 'web' }, { take: 5 })
  const asked = await agent.command('readLog')
  expect(asked.value.take).toBe(5)
  await agent.respond(asked.commandId, { case: 'log', value: { lines: [line(0)] } })
  expect(await log).toEqual(['2023-11-14T22:13:20.123000000Z line 0'])
  const inspected = inspectContainer(gateway.app, { team, actor }, nodeId, { prefix: '', name: 'web' })
  await agent.respond((await agent.command('inspectContainer')).commandId, {
    case: 'inspection',
    value: { json: '{"Id":1}' },
  })
  expect(await inspected).toEqual({ inspection: '{"Id":1}' })
})

test("answers not found for another team's node, and sends its agent nothing", async () => {
  const stranger = await makeTeam(gateway.app)
  const ref = { prefix: '', name: 'web' }
  const attempts = [
    listContainers(gateway.app, { team: stranger, actor }, { nodeId, prefix: '' }),
    operateContainer(gateway.app, { team: stranger, actor }, nodeId, ref, 'stop'),
    deletePrefix(gateway.app, { team: stranger, actor }, { nodeId, prefix: 'shop' }),
    inspectContainer(gateway.app, { team: stranger, actor }, nodeId, ref),
    readLog(gateway.app, { team: stranger, actor }, nodeId, ref, { take: 5 }),
    channel.open(makeSubscriber<'node'>(stranger, { nodeId })),
  ]
  for (const attempt of await Promise.allSettled(attempts)) {
    expect(attempt).toMatchObject({ status: 'rejected', reason: { code: 'notFound', property: 'id' } })
  }
  expect(agent.received.map(({ command }) => command.case)).toEqual(['welcome', 'rotateToken'])
})

test('sends all watchers of a node the whole list of their prefix at every change, from one shared stream', async () => {
  const all = subscribe()
  const shop = subscribe()
  await channel.messages['watch-containers-state'](all, {})
  await channel.messages['watch-containers-state'](shop, { prefix: 'shop' })
  const stream = agent.streamContainers((await agent.command('watchContainers')).value.streamId)
  await stream.send(true, [container('shop', 'web'), container('', 'other')])
  expect(listNames(await all.waitFor('containers-state-list'))).toEqual(['shop-web', 'other'])
  expect(await shop.waitFor('containers-state-list')).toMatchObject({
    prefix: 'shop',
    containers: [{ state: 'running' }],
  })

  await stream.send(false, [container('shop', 'web', ContainerState.EXITED)])
  await shop.waitFor('containers-state-list', ({ containers }: { containers: { state: string }[] }) =>
    containers.some(({ state }) => state === 'exited'),
  )
  const before = shop.sent.length
  await stream.send(false, [container('', 'other', ContainerState.REMOVED)])
  await all.waitFor('containers-state-list', (message) => listNames(message).join() === 'shop-web')
  expect(shop.sent).toHaveLength(before)
  expect(agent.received.filter(({ command }) => command.case === 'watchContainers')).toHaveLength(1)

  all.leave()
  expect(agent.received.some(({ command }) => command.case === 'stopStream')).toBe(false)
  shop.leave()
  await agent.command('stopStream')
  await stream.done
})

test('empties the container list while the agent is unavailable, and restores it when the agent reconnects', async () => {
  const watcher = subscribe()
  await channel.messages['watch-containers-state'](watcher, {})
  const stream = agent.streamContainers((await agent.command('watchContainers')).value.streamId)
  await stream.send(true, [container('shop', 'web')])
  await watcher.waitFor('containers-state-list', (message) => listNames(message).length === 1)
  agent.cut()
  await watcher.waitFor('containers-state-list', (message) => listNames(message).length === 0)
  const back = new ScriptedAgent({ url: gateway.url, nodeId, token: agent.token })
  await back.connect()
  const again = back.streamContainers((await back.command('watchContainers')).value.streamId)
  await again.send(true, [container('shop', 'db')])
  await watcher.waitFor('containers-state-list', (message) => listNames(message).join() === 'shop-db')
  watcher.leave()
  back.cut()
})

test('sends a slow browser only the last state of a burst of changes', async () => {
  const slow = subscribe()
  await channel.messages['watch-containers-state'](slow, {})
  const stream = agent.streamContainers((await agent.command('watchContainers')).value.streamId)
  await stream.send(true, [])
  await slow.waitFor('containers-state-list')
  slow.setBuffered(2_000_000)
  const before = slow.sent.length
  for (let index = 0; index < 200; index++) await stream.send(false, [container('', `c${index}`)])
  const fast = subscribe()
  await channel.messages['watch-containers-state'](fast, {})
  await fast.waitFor('containers-state-list', (message) => listNames(message).length === 200)
  expect(slow.sent).toHaveLength(before)
  slow.setBuffered(0)
  await slow.waitFor('containers-state-list', (message) => listNames(message).length === 200)
  expect(slow.sent).toHaveLength(before + 1)
  slow.leave()
  fast.leave()
})

const web = { prefix: 'shop', name: 'web' }

test('announces the number of log lines, then sends lines one by one, or in batches on request', async () => {
  const plain = subscribe()
  const batch = subscribe()
  await channel.messages['watch-container-log'](plain, { container: web })
  await channel.messages['watch-container-log'](batch, { container: web, take: 50, batch: true })
  expect(plain.sent[0]).toEqual({ type: 'container-log-started', data: { container: web, take: 100 } })
  const first = await agent.command('followLog')
  const second = await agent.command('followLog', 2)
  expect([first.value.take, second.value.take]).toEqual([100, 50])
  await agent.streamLog(first.value.streamId).send([line(0), line(1)])
  await agent.streamLog(second.value.streamId).send([line(0), { ...line(1), stderr: true }])
  await plain.waitFor('container-log', ({ log }: { log: string }) => log.endsWith('line 1'))
  expect(plain.sent[1]?.data).toEqual({ log: '2023-11-14T22:13:20.123000000Z line 0', container: web })
  expect(await batch.waitFor('container-log-batch')).toEqual({
    container: web,
    lines: [
      [1_700_000_000_123, 0, 'line 0'],
      [1_700_000_001_123, 1, 'line 1'],
    ],
  })
  plain.leave()
  batch.leave()
})

test('sends more than 1,000 past log lines only in batches', async () => {
  const subscriber = subscribe()
  const watch = (batch: boolean) =>
    channel.messages['watch-container-log'](subscriber, { container: web, take: 100_000, batch })
  await expect(watch(false)).rejects.toMatchObject({ code: 'invalidArgument', property: 'take' })
  expect(subscriber.sent).toEqual([])
  await watch(true)
  expect((await agent.command('followLog')).value.take).toBe(100_000)
  subscriber.leave()
})

test("reopens only the subscriber's own log stream when the number of lines changes", async () => {
  const mine = subscribe()
  const yours = subscribe()
  await channel.messages['watch-container-log'](mine, { container: web, batch: true })
  await channel.messages['watch-container-log'](yours, { container: web, batch: true })
  const { streamId } = (await agent.command('followLog')).value
  await channel.messages['set-container-log-take'](mine, { container: web, take: 500 })
  expect((await agent.command('stopStream')).value.streamId).toBe(streamId)
  const third = await agent.command('followLog', 3)
  expect(third.value.take).toBe(500)
  await agent.streamLog(third.value.streamId).send([line(1)])
  // The subscription still uses batches: only the number of lines changes.
  await mine.waitFor('container-log-batch')
  expect(yours.sent).toHaveLength(1)
  await channel.messages['unwatch-container-log'](mine, { container: web })
  expect((await agent.command('stopStream', 2)).value.streamId).toBe(third.value.streamId)
  mine.leave()
  yours.leave()
})

test('reports an error to the subscriber of a log that cannot be served', async () => {
  const subscriber = subscribe()
  await channel.messages['watch-container-log'](subscriber, { container: web })
  const { streamId } = (await agent.command('followLog')).value
  async function* failure() {
    yield { streamId, lines: [], failure: { code: FailureCode.NOT_FOUND, message: 'there is no shop-web' } }
  }
  await agent.client.streamLog(failure())
  await eventually(
    () => subscriber.failures,
    (failures) => failures.length === 1,
  )
  expect(subscriber.failures[0]).toMatchObject({ code: 'notFound', property: 'key', message: 'there is no shop-web' })
  subscriber.leave()
})

test('continues a followed log after a lost link, without missing or repeated lines', async () => {
  const subscriber = subscribe()
  await channel.messages['watch-container-log'](subscriber, { container: web, batch: true })
  await agent.streamLog((await agent.command('followLog')).value.streamId).send([line(0), line(1)])
  await subscriber.waitFor('container-log-batch')
  agent.cut()
  const back = new ScriptedAgent({ url: gateway.url, nodeId, token: agent.token })
  await back.connect()
  const { value } = await back.command('followLog')
  // All lines after the last one are requested, without a limit.
  expect(value.since).toMatchObject(line(1).at)
  const again = back.streamLog(value.streamId)
  await again.send([line(2)])
  await again.send([line(3)])
  await subscriber.waitFor('container-log-batch', ({ lines }: { lines: [number, number, string][] }) =>
    lines.some(([, , text]) => text === 'line 3'),
  )
  const texts = subscriber.sent
    .filter(({ type }) => type === 'container-log-batch')
    .flatMap(({ data }) => (data as { lines: [number, number, string][] }).lines.map(([, , text]) => text))
  expect(texts).toEqual(['line 0', 'line 1', 'line 2', 'line 3'])
  subscriber.leave()
  back.cut()
})

test('slows the agent down for a slow browser, and drops and counts lines when it reads nothing for 5 s', async () => {
  const subscriber = subscribe()
  await channel.messages['watch-container-log'](subscriber, { container: web, batch: true })
  const stream = agent.streamLog((await agent.command('followLog')).value.streamId)
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  subscriber.setBuffered(2_000_000)
  await stream.send([line(0)])
  await subscriber.waitFor('container-log-batch')
  const sending = Promise.all([1, 2, 3].map((index) => stream.send([line(index), line(index)])))
  await vi.advanceTimersByTimeAsync(4_900)
  expect(subscriber.sent).toHaveLength(2)
  await vi.advanceTimersByTimeAsync(200)
  await sending
  vi.useRealTimers()
  await stream.send([line(9)])
  stream.end()
  await stream.done
  subscriber.setBuffered(0)
  await subscriber.waitFor('container-log-batch', ({ skipped }: { skipped?: number }) => skipped === 7)
  subscriber.leave()
})
