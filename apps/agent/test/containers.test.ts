import { ContainerState, FailureCode, Operation } from '@crux/agent-protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { label, ownerLabels } from '../src/engines/labels.ts'
import { startTestEnvironment, type TestEnvironment, waitUntil, webImage } from './kit/index.ts'

let testEnvironment: TestEnvironment
let image: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  image = (await testEnvironment.publish('web:1', webImage('one'))).reference
  const outcome = await testEnvironment.server.deployAndWait(
    testEnvironment.release({
      instances: [{ instanceId: 'web', image, config: { name: 'web', ports: [{ internal: 8080 }] } }],
    }),
  )
  expect(outcome).toMatchObject({ successful: true })
})
afterAll(() => testEnvironment.dispose())

const ref = (name: string) => ({ prefix: testEnvironment.owner.prefix, name })
const watch = async (prefix?: string) => {
  const streamId = `watch-${Math.random()}`
  testEnvironment.server.send({ case: 'watchContainers', value: { streamId, prefix } })
  await waitUntil('the first list', () =>
    testEnvironment.server.containerUpdates.some((update) => update.streamId === streamId && update.full),
  )
  const updates = () => testEnvironment.server.containerUpdates.filter((update) => update.streamId === streamId)
  return {
    streamId,
    updates,
    changes: () =>
      updates()
        .slice(1)
        .flatMap(({ containers }) => containers),
  }
}

describe('a container watch', () => {
  test('sends all containers first and then each change as it happens', async () => {
    const { streamId, updates, changes } = await watch(testEnvironment.owner.prefix)
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
        await testEnvironment.server.ask({
          case: 'operateContainer',
          value: { container: ref('web'), operation: Operation.STOP },
        })
      ).case,
    ).toBe('done')
    const stopped = await waitUntil('the stop', () => changes().find(({ state }) => state === ContainerState.EXITED))
    expect(stopped).toMatchObject({ ref: ref('web'), exitCode: 0 })
    await testEnvironment.server.ask({
      case: 'operateContainer',
      value: { container: ref('web'), operation: Operation.START },
    })
    await waitUntil('the start', () => changes().at(-1)?.state === ContainerState.RUNNING)
    testEnvironment.server.send({ case: 'stopStream', value: { streamId } })
    await testEnvironment.server.ask({
      case: 'operateContainer',
      value: { container: ref('web'), operation: Operation.RESTART },
    })
    expect(changes().at(-1)?.state).toBe(ContainerState.RUNNING)
  })

  test('sends foreign containers by their full name and removed ones as removed', async () => {
    const { changes } = await watch()
    const name = testEnvironment.name('foreign')
    const foreign = await testEnvironment.docker.createContainer({ name, Image: image })
    await waitUntil('the creation', () =>
      changes().some(
        ({ ref: reported, state }) =>
          reported?.name === name && reported.prefix === '' && state === ContainerState.WAITING,
      ),
    )
    await foreign.remove({ force: true })
    await waitUntil('the removal', () =>
      changes().some(({ ref: reported, state }) => reported?.name === name && state === ContainerState.REMOVED),
    )
  })
})

describe('container commands', () => {
  test('are answered with not found for a container that does not exist', async () => {
    for (const command of [
      { case: 'operateContainer', value: { container: ref('nobody'), operation: Operation.START } },
      { case: 'inspectContainer', value: { container: ref('nobody') } },
      { case: 'readLog', value: { container: ref('nobody'), take: 10 } },
    ] as const) {
      expect(await testEnvironment.server.ask(command)).toMatchObject({
        case: 'failure',
        value: { code: FailureCode.NOT_FOUND },
      })
    }
  })

  test('are not executed twice when they arrive twice', async () => {
    const before = (await testEnvironment.inspect('web')).State.StartedAt
    const command = {
      case: 'operateContainer',
      value: { container: ref('web'), operation: Operation.RESTART },
    } as const
    testEnvironment.server.send(command, 'same')
    await waitUntil('an answer', () => testEnvironment.server.responses.has('same'))
    const { StartedAt } = (await testEnvironment.inspect('web')).State
    expect(StartedAt).not.toBe(before)
    testEnvironment.server.send(command, 'same')
    await testEnvironment.server.ask({ case: 'listContainers', value: {} })
    expect((await testEnvironment.inspect('web')).State.StartedAt).toBe(StartedAt)
  })

  test('return an inspection without the values of secrets that the container itself has', async () => {
    const value = await testEnvironment.seal('hunter2')
    const secrets = [
      { key: 'PASSWORD', value, encrypted: true },
      { key: 'COLOUR', value, encrypted: true },
    ]
    const config = { name: 'secret', secrets, environment: [{ key: 'COLOUR', value: 'blue' }] }
    const release = testEnvironment.release({ partial: true, instances: [{ image, config }] })
    expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true })
    expect(await testEnvironment.exec('secret', ['/bin/env'])).toContain('PASSWORD=hunter2')
    // A value that the configuration contains openly takes precedence over a secret of the same name.
    expect(await testEnvironment.exec('secret', ['/bin/env'])).toContain('COLOUR=blue')
    const answer = await testEnvironment.server.ask({ case: 'inspectContainer', value: { container: ref('secret') } })
    const json = answer.case === 'inspection' ? answer.value.json : ''
    expect(json).toContain('PASSWORD=***')
    expect(json).not.toContain('hunter2')
    expect(
      JSON.stringify(testEnvironment.server.listEvents(release.key ?? ({} as never)), (_, entry) =>
        typeof entry === 'bigint' ? String(entry) : entry,
      ),
    ).not.toContain('hunter2')
  })

  test('reveal no value of a secret in their logs, neither when a program prints it nor when they fail', async () => {
    const secrets = [{ key: 'PASSWORD', value: await testEnvironment.seal('hunter2\nsecond-line'), encrypted: true }]
    const printing = (name: string, script: string, more: object = {}) =>
      testEnvironment.release({
        partial: true,
        instances: [
          {
            image,
            config: { name, secrets, commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }], ...more },
          },
        ],
      })
    const release = printing('prints', 'echo "it is $PASSWORD"; trap "exit 0" TERM; sleep 1000 & wait')
    expect(await testEnvironment.server.deployAndWait(release)).toMatchObject({ successful: true })
    const answer = await testEnvironment.server.ask({ case: 'readLog', value: { container: ref('prints'), take: 10 } })
    const lines = answer.case === 'log' ? answer.value.lines.map(({ text }) => text) : []
    expect(lines).toEqual(['it is ***', '***'])
    const failing = printing('fails', 'echo "bad $PASSWORD"; exit 3')
    expect(await testEnvironment.server.deployAndWait(failing)).toMatchObject({ successful: false })
    const reported = JSON.stringify(testEnvironment.server.listEvents(failing.key ?? ({} as never)), (_, entry) =>
      typeof entry === 'bigint' ? String(entry) : entry,
    )
    expect(reported).toContain('bad ***')
    expect(reported).not.toMatch(/hunter2|second-line/)
    await testEnvironment.server.ask({ case: 'deleteContainers', value: { container: ref('prints') } })
  })

  test('delete one container, also one that no longer exists, or all of an owner and no other', async () => {
    expect(
      await testEnvironment.server.ask({ case: 'deleteContainers', value: { container: ref('secret') } }),
    ).toMatchObject({
      case: 'done',
    })
    expect(
      await testEnvironment.server.ask({ case: 'deleteContainers', value: { container: ref('secret') } }),
    ).toMatchObject({
      case: 'done',
    })
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
    await testEnvironment.server.ask({
      case: 'deleteContainers',
      value: { owner: { ...testEnvironment.owner, projectId: 'another' } },
    })
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
    expect(
      await testEnvironment.server.ask({ case: 'deleteContainers', value: { owner: testEnvironment.owner } }),
    ).toMatchObject({
      case: 'done',
    })
    expect(await testEnvironment.names()).toEqual([])
    const networks = await testEnvironment.docker.listNetworks({
      filters: { label: [`${label.prefix}=${testEnvironment.owner.prefix}`] },
    })
    expect(networks).toEqual([])
  })
})

describe('a container outside of the scope', () => {
  const commandsOn = (container: { prefix: string; name: string }, more: object = {}) =>
    [
      { case: 'operateContainer', value: { container, operation: Operation.STOP, ...more } },
      { case: 'operateContainer', value: { container, operation: Operation.RESTART, ...more } },
      { case: 'inspectContainer', value: { container, ...more } },
      { case: 'readLog', value: { container, take: 10, ...more } },
      { case: 'deleteContainers', value: { container, ...more } },
    ] as Parameters<TestEnvironment['server']['ask']>[0][]
  const run = async (name: string, labels: Record<string, string>) => {
    const container = await testEnvironment.docker.createContainer({
      name: testEnvironment.name(name),
      Image: image,
      Cmd: ['/bin/sh', '-c', `echo of ${name}; trap "exit 0" TERM; sleep 1000 & wait`],
      Labels: labels,
    })
    await container.start()
    return container
  }
  const others = (): Record<string, Record<string, string>> => ({
    nobody: {},
    team: ownerLabels({ ...testEnvironment.owner, teamId: 'another-team' }),
    node: ownerLabels({ ...testEnvironment.owner, nodeId: 'another-node' }),
    platform: { [label.serviceCategory]: '_internal' },
    half: { [label.team]: testEnvironment.owner.teamId, [label.prefix]: testEnvironment.owner.prefix },
  })

  test('is found by no command and continues unchanged', async () => {
    for (const [name, labels] of Object.entries(others())) {
      const container = await run(name, labels)
      const { State } = await container.inspect()
      for (const at of [ref(name), { prefix: '', name: testEnvironment.name(name) }])
        for (const command of commandsOn(at)) {
          const answer = await testEnvironment.server.ask(command)
          if (command.case === 'deleteContainers' && at.prefix !== '' && !labels[label.prefix]) {
            // No container of this prefix has that name, so there is nothing to delete.
            expect(answer.case).toBe('done')
            continue
          }
          expect(answer, `${command.case} ${name}`).toMatchObject({
            case: 'failure',
            value: { code: FailureCode.NOT_FOUND, message: `There is no container ${testEnvironment.name(name)}` },
          })
        }
      expect((await container.inspect()).State.StartedAt).toBe(State.StartedAt)
      await container.remove({ force: true })
    }
  })

  test('is listed and watched by name, image and state alone and not under a prefix', async () => {
    const { changes, updates } = await watch()
    const container = await run('team', others().team ?? {})
    await waitUntil('it is reported', () =>
      changes().some(
        (reported) => reported.ref?.name === testEnvironment.name('team') && reported.state === ContainerState.RUNNING,
      ),
    )
    const answer = await testEnvironment.server.ask({ case: 'listContainers', value: {} })
    const listed = answer.case === 'containers' ? answer.value.containers : []
    for (const reported of [...updates().flatMap(({ containers }) => containers), ...listed]) {
      if (reported.ref?.name !== testEnvironment.name('team')) continue
      expect(reported).toMatchObject({
        ref: { prefix: '' },
        owned: false,
        imageName: image.slice(0, -2),
        imageTag: '1',
      })
      expect([
        reported.command,
        reported.reason,
        reported.health,
        reported.labels,
        reported.ports,
        reported.createdAt,
        reported.startedAt,
      ]).toEqual(['', '', '', {}, [], undefined, undefined])
    }
    const underPrefix = await testEnvironment.server.ask({
      case: 'listContainers',
      value: { prefix: testEnvironment.owner.prefix },
    })
    expect(underPrefix).toMatchObject({ case: 'containers', value: { containers: [] } })
    await container.remove({ force: true })
  })

  test('belongs to the scope when its node is a deleted one of the team', async () => {
    const scope = {
      teamId: testEnvironment.owner.teamId,
      nodeId: testEnvironment.owner.nodeId,
      deletedNodeIds: ['another-node'],
    }
    const container = await run('node', others().node ?? {})
    const log = await testEnvironment.server.ask({
      case: 'readLog',
      value: { container: ref('node'), take: 10, scope },
    })
    expect(log.case === 'log' && log.value.lines.map(({ text }) => text)).toEqual(['of node'])
    const listed = await testEnvironment.server.ask({
      case: 'listContainers',
      value: { prefix: testEnvironment.owner.prefix, scope },
    })
    expect(listed).toMatchObject({ value: { containers: [{ ref: ref('node'), owned: true }] } })
    expect(
      await testEnvironment.server.ask({ case: 'deleteContainers', value: { container: ref('node'), scope } }),
    ).toMatchObject({
      case: 'done',
    })
    await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 })
  })

  test('does not continue the log of a container whose name it takes', async () => {
    const own = await run('follow', ownerLabels(testEnvironment.owner))
    const streamId = `log-${Math.random()}`
    const texts = () => (testEnvironment.server.logLines.get(streamId) ?? []).map(({ text }) => text)
    testEnvironment.server.send({ case: 'followLog', value: { streamId, container: ref('follow'), take: 10 } })
    await waitUntil('its first line', () => texts().length === 1)
    await own.remove({ force: true })
    const foreign = await run('follow', others().team ?? {})
    await waitUntil('it prints', async () => (await foreign.logs({ stdout: true })).length > 0)
    await foreign.remove({ force: true })
    await run('follow', ownerLabels(testEnvironment.owner))
    await waitUntil('the line of the next own one', () => texts().length === 2)
    expect(texts()).toEqual(['of follow', 'of follow'])
  })

  test('is not affected by a command without a scope, for another node, or for an owner outside of its scope', async () => {
    const container = await run('own', ownerLabels(testEnvironment.owner))
    const refused = { case: 'failure', value: { code: FailureCode.REFUSED } }
    for (const scope of [
      undefined,
      { teamId: testEnvironment.owner.teamId, nodeId: 'another-node' },
      { teamId: '', nodeId: '' },
    ]) {
      for (const command of commandsOn(ref('own'), { scope }))
        expect(await testEnvironment.server.ask(command)).toMatchObject(refused)
      for (const kind of ['listContainers', 'listImages'] as const)
        expect(await testEnvironment.server.ask({ case: kind, value: { scope } })).toMatchObject(refused)
    }
    const owner = { ...testEnvironment.owner, teamId: 'another-team' }
    expect(await testEnvironment.server.ask({ case: 'deleteContainers', value: { owner } })).toMatchObject(refused)
    expect((await container.inspect()).State.Running).toBe(true)
    await container.remove({ force: true })
  })
})
