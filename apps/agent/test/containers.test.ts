import { ContainerState, FailureCode, Operation } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { label } from '../src/plan/labels.ts'
import { startWorld, type World, waitUntil, webImage } from './kit/index.ts'

let world: World
let image: string
beforeAll(async () => {
  world = await startWorld()
  image = (await world.publish('web:1', webImage('one'))).reference
  const outcome = await world.server.deployAndWait(
    world.release({ instances: [{ instanceId: 'web', image, config: { name: 'web', ports: [{ internal: 8080 }] } }] }),
  )
  expect(outcome).toMatchObject({ successful: true })
})
afterAll(() => world.dispose())

const ref = (name: string) => ({ prefix: world.owner.prefix, name })
const watch = async (prefix?: string) => {
  const streamId = `watch-${Math.random()}`
  world.server.send({ case: 'watchContainers', value: { streamId, prefix } })
  await waitUntil('the first list', () =>
    world.server.containerUpdates.some((update) => update.streamId === streamId && update.full),
  )
  const updates = () => world.server.containerUpdates.filter((update) => update.streamId === streamId)
  return {
    streamId,
    updates,
    changes: () =>
      updates()
        .slice(1)
        .flatMap(({ containers }) => containers),
  }
}

describe('watching containers', () => {
  test('tells all of them first, and then each change as it happens', async () => {
    const { streamId, updates, changes } = await watch(world.owner.prefix)
    expect(updates()[0]?.containers).toMatchObject([
      {
        ref: ref('web'),
        state: ContainerState.RUNNING,
        imageName: image.slice(0, -2),
        imageTag: '1',
        restartCount: 0,
        labels: { [label.name]: 'web' },
      },
    ])
    expect(updates()[0]?.containers[0]?.reason).toMatch(/^Up /)
    expect(
      (
        await world.server.ask({
          case: 'operateContainer',
          value: { container: ref('web'), operation: Operation.STOP },
        })
      ).case,
    ).toBe('done')
    const stopped = await waitUntil('the stop', () => changes().find(({ state }) => state === ContainerState.EXITED))
    expect(stopped).toMatchObject({ ref: ref('web'), exitCode: 0 })
    await world.server.ask({ case: 'operateContainer', value: { container: ref('web'), operation: Operation.START } })
    await waitUntil('the start', () => changes().at(-1)?.state === ContainerState.RUNNING)
    world.server.send({ case: 'stopStream', value: { streamId } })
    await world.server.ask({ case: 'operateContainer', value: { container: ref('web'), operation: Operation.RESTART } })
    expect(changes().at(-1)?.state).toBe(ContainerState.RUNNING)
  })

  test('tells foreign containers by their full name, and those that go as removed', async () => {
    const { changes } = await watch()
    const name = world.name('foreign')
    const foreign = await world.docker.createContainer({ name, Image: image })
    await waitUntil('the creation', () =>
      changes().some(
        ({ ref: told, state }) => told?.name === name && told.prefix === '' && state === ContainerState.WAITING,
      ),
    )
    await foreign.remove({ force: true })
    await waitUntil('the removal', () =>
      changes().some(({ ref: told, state }) => told?.name === name && state === ContainerState.REMOVED),
    )
  })
})

describe('commands', () => {
  test('on a container that does not exist are answered as not found', async () => {
    for (const command of [
      { case: 'operateContainer', value: { container: ref('nobody'), operation: Operation.START } },
      { case: 'inspectContainer', value: { container: ref('nobody') } },
      { case: 'readLog', value: { container: ref('nobody'), take: 10 } },
    ] as const) {
      expect(await world.server.ask(command)).toMatchObject({ case: 'failure', value: { code: FailureCode.NOT_FOUND } })
    }
  })

  test('are not executed twice when they come twice', async () => {
    const before = (await world.inspect('web')).State.StartedAt
    const command = {
      case: 'operateContainer',
      value: { container: ref('web'), operation: Operation.RESTART },
    } as const
    world.server.send(command, 'same')
    await waitUntil('an answer', () => world.server.responses.has('same'))
    const { StartedAt } = (await world.inspect('web')).State
    expect(StartedAt).not.toBe(before)
    world.server.send(command, 'same')
    await world.server.ask({ case: 'listContainers', value: {} })
    expect((await world.inspect('web')).State.StartedAt).toBe(StartedAt)
  })

  test('show an inspection without the values of secrets, which the container itself has', async () => {
    const value = await world.seal('hunter2')
    const secrets = [
      { key: 'PASSWORD', value, encrypted: true },
      { key: 'COLOUR', value, encrypted: true },
    ]
    const config = { name: 'secret', secrets, environment: [{ key: 'COLOUR', value: 'blue' }] }
    const release = world.release({ partial: true, instances: [{ image, config }] })
    expect(await world.server.deployAndWait(release)).toMatchObject({ successful: true })
    expect(await world.exec('secret', ['/bin/env'])).toContain('PASSWORD=hunter2')
    // What the configuration says openly wins over a secret of the same name.
    expect(await world.exec('secret', ['/bin/env'])).toContain('COLOUR=blue')
    const answer = await world.server.ask({ case: 'inspectContainer', value: { container: ref('secret') } })
    const json = answer.case === 'inspection' ? answer.value.json : ''
    expect(json).toContain('PASSWORD=***')
    expect(json).not.toContain('hunter2')
    expect(
      JSON.stringify(world.server.eventsOf(release.key ?? ({} as never)), (_, entry) =>
        typeof entry === 'bigint' ? String(entry) : entry,
      ),
    ).not.toContain('hunter2')
  })

  test('tell no value of a secret in their logs, also one that the program prints, nor when they fail', async () => {
    const secrets = [{ key: 'PASSWORD', value: await world.seal('hunter2\nsecond-line'), encrypted: true }]
    const printing = (name: string, script: string, more: object = {}) =>
      world.release({
        partial: true,
        instances: [
          {
            image,
            config: { name, secrets, commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }], ...more },
          },
        ],
      })
    const release = printing('prints', 'echo "it is $PASSWORD"; trap "exit 0" TERM; sleep 1000 & wait')
    expect(await world.server.deployAndWait(release)).toMatchObject({ successful: true })
    const answer = await world.server.ask({ case: 'readLog', value: { container: ref('prints'), take: 10 } })
    const lines = answer.case === 'log' ? answer.value.lines.map(({ text }) => text) : []
    expect(lines).toEqual(['it is ***', '***'])
    const failing = printing('fails', 'echo "bad $PASSWORD"; exit 3')
    expect(await world.server.deployAndWait(failing)).toMatchObject({ successful: false })
    const told = JSON.stringify(world.server.eventsOf(failing.key ?? ({} as never)), (_, entry) =>
      typeof entry === 'bigint' ? String(entry) : entry,
    )
    expect(told).toContain('bad ***')
    expect(told).not.toMatch(/hunter2|second-line/)
    await world.server.ask({ case: 'deleteContainers', value: { container: ref('prints') } })
  })

  test('delete one container, also one that is gone already, or all of an owner and no other', async () => {
    expect(await world.server.ask({ case: 'deleteContainers', value: { container: ref('secret') } })).toMatchObject({
      case: 'done',
    })
    expect(await world.server.ask({ case: 'deleteContainers', value: { container: ref('secret') } })).toMatchObject({
      case: 'done',
    })
    expect(await world.names()).toEqual([world.name('web')])
    await world.server.ask({ case: 'deleteContainers', value: { owner: { ...world.owner, projectId: 'another' } } })
    expect(await world.names()).toEqual([world.name('web')])
    expect(await world.server.ask({ case: 'deleteContainers', value: { owner: world.owner } })).toMatchObject({
      case: 'done',
    })
    expect(await world.names()).toEqual([])
    const networks = await world.docker.listNetworks({ filters: { label: [`${label.prefix}=${world.owner.prefix}`] } })
    expect(networks).toEqual([])
  })
})
