import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Phase, PhaseState, type Release, type ReleaseKey } from '@crux/agent-protocol'
import { freePort } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildAgent } from '../scripts/build.ts'
import {
  phaseReached,
  spawnAgent,
  startTestEnvironment,
  type TestEnvironment,
  waitUntil,
  webImage,
} from './kit/index.ts'

let testEnvironment: TestEnvironment
let main: string
let one: string
let two: string
let spawned: ReturnType<typeof spawnAgent> | undefined

beforeAll(async () => {
  // The bundle starts several times as fast as the sources.
  main = join(await buildAgent(await mkdtemp(join(tmpdir(), 'crux-agent-bundle-'))), 'agent.mjs')
  testEnvironment = await startTestEnvironment()
  one = (await testEnvironment.publish('web:1', webImage('one'))).reference
  two = (await testEnvironment.publish('web:2', webImage('two'))).reference
  await testEnvironment.agent.stop()
})
afterEach(async () => {
  spawned?.child.kill('SIGKILL')
  await spawned?.exited
  await testEnvironment.clear()
})
afterAll(async () => {
  await testEnvironment.dispose()
  await rm(dirname(main), { recursive: true, force: true })
})

async function startProcess(): Promise<void> {
  const links = testEnvironment.server.links.length
  spawned = spawnAgent(testEnvironment.server, {
    main,
    dataDir: testEnvironment.dataDir,
    nodeId: testEnvironment.owner.nodeId,
  })
  await waitUntil(
    'the agent process connects',
    () => testEnvironment.server.links.length > links && testEnvironment.server.connected,
    40_000,
  )
}

async function kill(): Promise<void> {
  spawned?.child.kill('SIGKILL')
  await spawned?.exited
}

const reached = (release: Release, phase: Phase, state: PhaseState) =>
  phaseReached(testEnvironment, release, phase, state)

const web = (image: string, more: object = {}) => ({ instanceId: 'web', image, config: { name: 'web', ...more } })

async function allQuiet(): Promise<void> {
  expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
  await waitUntil(
    'the journal is gone',
    async () => (await readdir(join(testEnvironment.dataDir, '.agent', 'journal'))).length === 0,
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
    ['after it reported its success, before the old one is removed', Phase.CLEAN_UP, PhaseState.RUNNING, ['without']],
  ]
  const cases = moments.flatMap(([when, phase, state, ports]) =>
    ports.map((port) => [when, port, phase, state] as const),
  )
  test.each(cases)('%s continues it to a success, %s a published port', async (_, port, phase, state) => {
    const ports = port === 'with' ? [{ internal: 8080, external: await freePort() }] : []
    await startProcess()
    expect(
      await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(one, { ports })] })),
    ).toMatchObject({
      successful: true,
    })
    const release = testEnvironment.release({
      observationWindowMs: 600,
      drainMs: 300,
      instances: [web(two, { ports })],
    })
    testEnvironment.server.deploy(release)
    await reached(release, phase, state)
    await kill()
    await startProcess()
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({
      successful: true,
      containerNames: [testEnvironment.name('web')],
    })
    expect(await testEnvironment.answer('web')).toBe('two')
    expect(
      testEnvironment.server.listEvents(release.key as ReleaseKey).filter(({ event }) => event.case === 'outcome'),
    ).toHaveLength(1)
    await allQuiet()
  })

  test('and finds the new container ended restores the old one', async () => {
    await startProcess()
    const ports = [{ internal: 8080, external: await freePort() }]
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(one, { ports })] }))
    const { Id } = await testEnvironment.inspect('web')
    const release = testEnvironment.release({
      observationWindowMs: 5_000,
      instances: [web(two, { ports, restartPolicy: 'no' })],
    })
    testEnvironment.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.RUNNING)
    await kill()
    const fresh = (
      await testEnvironment.docker.listContainers({ filters: { name: [`${testEnvironment.name('web')}.next-`] } })
    )[0]
    await testEnvironment.docker.getContainer(fresh?.Id ?? '').kill()
    await startProcess()
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({
      successful: false,
      previousRestored: true,
    })
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    expect(await testEnvironment.answer('web')).toBe('one')
    await allQuiet()
  })

  test('during the undo continues the undo', async () => {
    await startProcess()
    const ports = [{ internal: 8080, external: await freePort() }]
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(one, { ports })] }))
    const { Id } = await testEnvironment.inspect('web')
    const release = testEnvironment.release({
      instances: [web(two, { ports, commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: 'exit 5' }] })],
    })
    testEnvironment.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.FAILED)
    await kill()
    await startProcess()
    const outcome = await testEnvironment.server.getOutcome(release)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toContain('exit code 5')
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    await allQuiet()
  })
})

describe('an agent that is killed while an init container runs', () => {
  const volume = (...parts: string[]) =>
    join(testEnvironment.dataDir, testEnvironment.owner.prefix, 'web', 'data', ...parts)
  const prepared = () =>
    web(two, {
      volumes: [{ name: 'data', path: '/data' }],
      // Completed before the kill; a second run would remove the files that the init container wrote.
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
  afterEach(() => rm(join(testEnvironment.dataDir, testEnvironment.owner.prefix), { recursive: true, force: true }))

  test('waits for the same init container and runs it once', async () => {
    await startProcess()
    const release = testEnvironment.release({ instances: [prepared()] })
    testEnvironment.server.deploy(release)
    await begun()
    await kill()
    await startProcess()
    await writeFile(volume('go'), '')
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: true })
    expect(await readFile(volume('runs'), 'utf8')).toBe('run\n')
    expect(await readFile(volume('index.html'), 'utf8')).toBe('one')
    await allQuiet()
  })

  test('removes the init container when the release is cancelled in the meantime', async () => {
    await startProcess()
    const release = testEnvironment.release({ instances: [prepared()] })
    testEnvironment.server.deploy(release)
    await begun()
    await kill()
    await startProcess()
    testEnvironment.server.send({ case: 'cancelDeployment', value: release.key ? { release: release.key } : {} })
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: false, cancelled: true })
    expect(await testEnvironment.names()).toEqual([])
  })
})

describe('a server that is unavailable during a deployment', () => {
  test('receives everything once and in order when it is back', async () => {
    await startProcess()
    const release = testEnvironment.release({ observationWindowMs: 800, instances: [web(one)] })
    testEnvironment.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.RUNNING)
    await testEnvironment.server.stop()
    await waitUntil('the deployment ends without the server', async () => (await testEnvironment.names()).length === 1)
    await new Promise((resolve) => setTimeout(resolve, 1_200))
    await testEnvironment.server.start()
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: true })
    const sequences = (release.key ? testEnvironment.server.listEvents(release.key) : []).map(({ sequence }) =>
      Number(sequence),
    )
    expect(sequences).toEqual(sequences.map((_, index) => index + 1))
    await allQuiet()
  })

  test('and gave the release up makes the agent restore everything', async () => {
    await startProcess()
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(one)] }))
    const release = testEnvironment.release({ observationWindowMs: 60_000, instances: [web(two)] })
    testEnvironment.server.deploy(release)
    await reached(release, Phase.VERIFY, PhaseState.RUNNING)
    testEnvironment.server.abandoned.add(`${release.key?.deploymentId}/1`)
    testEnvironment.server.cutLink()
    const outcome = await testEnvironment.server.getOutcome(release)
    expect(outcome).toMatchObject({ successful: false, cancelled: false, previousRestored: true })
    expect(outcome.reason).toContain('no longer counts on this release')
    expect(await testEnvironment.answer('web')).toBe('one')
    await allQuiet()
  })
})
