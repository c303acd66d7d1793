import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { type Container, ContainerSchema, ContainerState } from '@crux/agent-protocol'
import { afterEach, describe, expect, test } from 'vitest'
import type { ContainerView, EngineEvent } from '../engines/engine.ts'
import { EngineError } from '../errors.ts'
import { type ContainerUpdate, watchContainers } from './watch.ts'

type Init = Exclude<MessageInitShape<typeof ContainerSchema>, Container>
const makeContainer = (id: string, state = ContainerState.RUNNING, more: Init = {}): Container =>
  create(ContainerSchema, { engineId: id, ref: { prefix: '', name: id }, state, reason: 'Up 2 minutes', ...more })

/** An engine whose answers the test provides. */
function makeEngine(initial: Container[]) {
  let listener: (event: EngineEvent) => void = () => undefined
  const engine = {
    containers: initial,
    view: async (ids: readonly string[]): Promise<Container[]> =>
      engine.containers.filter(({ engineId }) => ids.includes(engineId)),
    list: async (): Promise<Container[]> => engine.containers,
    emit: (event: EngineEvent) => listener(event),
    event: (id: string, action: string, labels: Record<string, string> = {}) =>
      listener({ kind: 'container', id, action, name: id, labels }),
  }
  const driver = {
    list: () => engine.list(),
    view: (ids: readonly string[]) => engine.view(ids),
    subscribe: (given: (event: EngineEvent) => void) => {
      listener = given
      return () => undefined
    },
  } as unknown as ContainerView // The code under test uses only these three.
  return { engine, driver }
}

const ending: AbortController[] = []
afterEach(() => {
  for (const controller of ending.splice(0)) controller.abort()
})
async function start(driver: ContainerView) {
  const controller = new AbortController()
  ending.push(controller)
  const updates = watchContainers(driver, { prefix: undefined, signal: controller.signal })
  const next = async () => ((await updates.next()) as { value: ContainerUpdate }).value
  return { next, first: await next() }
}
const states = (update: ContainerUpdate) => update.containers.map(({ engineId, state }) => [engineId, state])

describe('watchContainers', () => {
  test('reports the end of a container at once while the engine still holds it locked', async () => {
    const { engine, driver } = makeEngine([makeContainer('a')])
    const { next, first } = await start(driver)
    expect(first.full).toBe(true)
    engine.view = () => new Promise(() => undefined)
    engine.event('a', 'die', { exitCode: '137' })
    const update = await next()
    expect(update.containers[0]).toMatchObject({ state: ContainerState.EXITED, exitCode: 137, reason: 'Exited (137)' })
  })

  const pods = [{ name: 'a-1' }]
  test.each<[string, Init]>([
    ['an address', { externalAddresses: [{ addresses: ['203.0.113.7'] }] }],
    ['another pod', { pods: [{ name: 'a-2' }] }],
    ['a pod that is ready', { pods: [{ name: 'a-1', ready: true }] }],
    ['another kind', { isJob: true }],
    ['another image', { imageTag: '2' }],
    ['another label', { labels: { one: '2' } }],
  ])('sends a container whose state is the same but has %s', async (_, change) => {
    const make = (more: Init) => makeContainer('a', ContainerState.RUNNING, { podCount: 1, pods, ...more })
    const { engine, driver } = makeEngine([make({})])
    const { next } = await start(driver)
    engine.containers = [make(change)]
    engine.event('a', 'update')
    expect(await next()).toEqual({ full: false, containers: engine.containers })
  })

  test('sends only the latest state of each container after the receiver was busy', async () => {
    const { engine, driver } = makeEngine([makeContainer('a'), makeContainer('b')])
    const { next } = await start(driver)
    engine.view = () => new Promise(() => undefined)
    engine.event('a', 'die')
    engine.event('b', 'die')
    engine.event('a', 'start')
    expect(states(await next())).toEqual([
      ['a', ContainerState.RUNNING],
      ['b', ContainerState.EXITED],
    ])
  })

  test('reports only differences after missed events, with vanished containers as removed', async () => {
    const { engine, driver } = makeEngine([makeContainer('a'), makeContainer('b'), makeContainer('c')])
    const { next } = await start(driver)
    engine.containers = [makeContainer('a'), makeContainer('b', ContainerState.EXITED), makeContainer('d')]
    engine.emit({ kind: 'relist' })
    const update = await next()
    expect(update.full).toBe(false)
    expect(states(update)).toEqual([
      ['c', ContainerState.REMOVED],
      ['b', ContainerState.EXITED],
      ['d', ContainerState.RUNNING],
    ])
  })

  test('waits while the engine is unavailable and continues when it is back', async () => {
    const { engine, driver } = makeEngine([makeContainer('a')])
    const list = engine.list
    engine.list = () => Promise.reject(new EngineError('unavailable', 'no answer'))
    const controller = new AbortController()
    ending.push(controller)
    const updates = watchContainers(driver, { prefix: undefined, signal: controller.signal })
    const first = updates.next()
    await new Promise((resolve) => setImmediate(resolve))
    engine.list = list
    engine.emit({ kind: 'relist' })
    expect(((await first) as { value: ContainerUpdate }).value.containers).toHaveLength(1)
  })

  test('lists again after an answer was cut off although the engine reports no missed events', async () => {
    const { engine, driver } = makeEngine([makeContainer('a')])
    const { next } = await start(driver)
    const list = engine.list
    let cuts = 0
    engine.list = async () => {
      cuts += 1
      if (cuts > 2) return list()
      throw new EngineError('other', 'listing containers: Unexpected end of JSON input')
    }
    engine.containers = [makeContainer('a'), makeContainer('b')]
    engine.emit({ kind: 'relist' })
    expect(states(await next())).toEqual([['b', ContainerState.RUNNING]])
    expect(cuts).toBe(3)
  })

  test('ends with the reason when every attempt to list fails', async () => {
    const { engine, driver } = makeEngine([])
    engine.list = () => Promise.reject(new EngineError('refused', 'listing containers: forbidden'))
    const updates = watchContainers(driver, { prefix: undefined, signal: new AbortController().signal })
    await expect(updates.next()).rejects.toThrow('forbidden')
  })
})
