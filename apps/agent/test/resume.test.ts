import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Phase, PhaseState, type Release, type ReleaseKey } from '@crux/agent-protocol'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildAgent } from '../scripts/build.ts'
import { phaseReached, spawnAgent, startWorld, type World, waitUntil, webImage } from './kit/index.ts'

let world: World
let main: string
let one: string
let two: string
let spawned: ReturnType<typeof spawnAgent> | undefined

beforeAll(async () => {
  // The bundle starts several times as fast as the sources.
  main = join(await buildAgent(await mkdtemp(join(tmpdir(), 'crux-agent-bundle-'))), 'agent.mjs')
  world = await startWorld()
  one = (await world.publish('web:1', webImage('one'))).reference
  two = (await world.publish('web:2', webImage('two'))).reference
  await world.agent.stop()
})
afterEach(async () => {
  spawned?.child.kill('SIGKILL')
  await spawned?.exited
  await world.clear()
})
afterAll(async () => {
  await world.dispose()
  await rm(dirname(main), { recursive: true, force: true })
})

async function startProcess(): Promise<void> {
  const links = world.server.links.length
  spawned = spawnAgent(world.server, { main, dataDir: world.dataDir, nodeId: world.owner.nodeId })
  await waitUntil(
    'the agent process connects',
    () => world.server.links.length > links && world.server.connected,
    40_000,
  )
}

async function kill(): Promise<void> {
  spawned?.child.kill('SIGKILL')
  await spawned?.exited
}

const reached = (release: Release, phase: Phase, state: PhaseState) => phaseReached(world, release, phase, state)

const web = (image: string, more: object = {}) => ({ instanceId: 'web', image, config: { name: 'web', ...more } })

async function allQuiet(): Promise<void> {
  expect(await world.names()).toEqual([world.name('web')])
  await waitUntil(
    'the journal is gone',
    async () => (await readdir(join(world.dataDir, '.agent', 'journal'))).length === 0,
  )
}

describe('an agent that is killed in the middle of a deployment', () => {
  const moments: [string, Phase, PhaseState, ('with' | 'without')[]][] = [
    ['while it resolves', Phase.RESOLVE, PhaseState.RUNNING, ['without']],
    ['after it created the new container', Phase.CREATE, PhaseState.DONE, ['with']],
    ['while it starts the new container', Phase.START, PhaseState.RUNNING, ['with']],
    ['while it checks the new container', Phase.VERIFY, PhaseState.RUNNING, ['with', 'without']],
    ['while it exchanges the names', Phase.SWAP, PhaseState.RUNNING, ['with', 'without']],
    ['after the exchange, before the old one is removed', Phase.SWAP, PhaseState.DONE, ['without']],
    ['after it told its success, before the old one is removed', Phase.CLEAN_UP, PhaseState.RUNNING, ['without']],
  ]
  const cases = moments.flatMap(([when, phase, state, ports]) =>
    ports.map((port) => [when, port, phase, state] as const),
  )
  test.each(cases)('%s continues and ends well, %s a published port', async (_, port, phase, state) => {
    const ports = port === 'with' ? [{ internal: 8080, external: await freePort() }] : []
    await startProcess()
    expect(await world.server.deployAndWait(world.release({ instances: [web(one, { ports })] }))).toMatchObject({
      successful: true,
    })
    const release = world.release({ observationWindowMs: 600, drainMs: 300, instances: [web(two, { ports })] })
    world.server.deploy(release)
    await reached(release, phase, state)
    await kill()
    await startProcess()
    expect(await world.server.outcomeOf(release)).toMatchObject({
      successful: true,
      containerNames: [world.name('web')],
    })
    expect(await waitUntil('the new one answers', () => world.answer('web'))).toBe('two')
    expect(
      world.server.eventsOf(release.key as ReleaseKey).filter(({ event }) => event.case === 'outcome'),
    ).toHaveLength(1)
    await allQuiet()
  })

  test('and finds the new container ended puts the old one back', async () => {
    await startProcess()
    const ports = [{ internal: 8080, external: await freePort() }]
    await world.server.deployAndWait(world.release({ instances: [web(one, { ports })] }))
    const { Id } = await world.inspect('web')
    const release = world.release({ observationWindowMs: 5_000, instances: [web(two, { ports, restartPolicy: 'no' })] })
    world.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.RUNNING)
    await kill()
    const fresh = (await world.docker.listContainers({ filters: { name: [`${world.name('web')}.next-`] } }))[0]
    await world.docker.getContainer(fresh?.Id ?? '').kill()
    await startProcess()
    expect(await world.server.outcomeOf(release)).toMatchObject({ successful: false, previousRestored: true })
    expect((await world.inspect('web')).Id).toBe(Id)
    expect(await waitUntil('the old one answers', () => world.answer('web'))).toBe('one')
    await allQuiet()
  })

  test('while it puts things back goes on with that', async () => {
    await startProcess()
    const ports = [{ internal: 8080, external: await freePort() }]
    await world.server.deployAndWait(world.release({ instances: [web(one, { ports })] }))
    const { Id } = await world.inspect('web')
    const release = world.release({
      instances: [web(two, { ports, commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: 'exit 5' }] })],
    })
    world.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.FAILED)
    await kill()
    await startProcess()
    const outcome = await world.server.outcomeOf(release)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toContain('exit code 5')
    expect((await world.inspect('web')).Id).toBe(Id)
    await allQuiet()
  })
})

describe('an agent that is killed while an init container runs', () => {
  const volume = (...parts: string[]) => join(world.dataDir, world.owner.prefix, 'web', 'data', ...parts)
  const prepared = () =>
    web(two, {
      volumes: [{ name: 'data', path: '/data' }],
      // Done before the kill; a second time it would take away what the init container wrote.
      configContainer: { image: one, volume: 'data', path: '/www', keepFiles: false },
      initContainers: [
        {
          name: 'once',
          image: one,
          command: [{ key: '/bin/sh' }, { key: '-c' }],
          args: [{ key: 'echo run >> /v/runs; until test -e /v/go; do usleep 50000; done' }],
          volumes: [{ name: 'data', path: '/v' }],
        },
      ],
    })
  const begun = () =>
    waitUntil('the init container runs', () => readFile(volume('runs'), 'utf8').catch(() => undefined))
  afterEach(() => rm(join(world.dataDir, world.owner.prefix), { recursive: true, force: true }))

  test('waits for the same one and runs it once', async () => {
    await startProcess()
    const release = world.release({ instances: [prepared()] })
    world.server.deploy(release)
    await begun()
    await kill()
    await startProcess()
    await writeFile(volume('go'), '')
    expect(await world.server.outcomeOf(release)).toMatchObject({ successful: true })
    expect(await readFile(volume('runs'), 'utf8')).toBe('run\n')
    expect(await readFile(volume('index.html'), 'utf8')).toBe('one')
    await allQuiet()
  })

  test('removes it when the release is cancelled meanwhile', async () => {
    await startProcess()
    const release = world.release({ instances: [prepared()] })
    world.server.deploy(release)
    await begun()
    await kill()
    await startProcess()
    world.server.send({ case: 'cancelDeployment', value: release.key ? { release: release.key } : {} })
    expect(await world.server.outcomeOf(release)).toMatchObject({ successful: false, cancelled: true })
    expect(await world.names()).toEqual([])
  })
})

describe('a server that is away during a deployment', () => {
  test('hears everything once and in order when it is back', async () => {
    await startProcess()
    const release = world.release({ observationWindowMs: 800, instances: [web(one)] })
    world.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.RUNNING)
    await world.server.stop()
    await waitUntil('the deployment ends without the server', async () => (await world.names()).length === 1)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    await world.server.start()
    expect(await world.server.outcomeOf(release)).toMatchObject({ successful: true })
    const sequences = (release.key ? world.server.eventsOf(release.key) : []).map(({ sequence }) => Number(sequence))
    expect(sequences).toEqual(sequences.map((_, index) => index + 1))
    await allQuiet()
  })

  test('and gave the release up gets everything put back', async () => {
    await startProcess()
    await world.server.deployAndWait(world.release({ instances: [web(one)] }))
    const release = world.release({ observationWindowMs: 60_000, instances: [web(two)] })
    world.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.RUNNING)
    world.server.abandoned.add(`${release.key?.deploymentId}/1`)
    world.server.cutLink()
    const outcome = await world.server.outcomeOf(release)
    expect(outcome).toMatchObject({ successful: false, cancelled: false, previousRestored: true })
    expect(outcome.reason).toContain('no longer counts on this release')
    expect(await world.answer('web')).toBe('one')
    await allQuiet()
  })
})
