import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { removeContainers } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildAgent } from '../scripts/build.ts'
import {
  getJournal,
  phaseReached,
  spawnAgent,
  startTestEnvironment,
  type TestEnvironment,
  waitUntil,
  webImage,
} from './kit/index.ts'

/** The agent as a process that a supervisor restarts whenever it ends, as systemd, Docker and the server do. */
interface SupervisedAgent {
  /** How often it has ended by itself or by a kill. */
  readonly exits: number
  readonly pid: number | undefined
  output(): string
  kill(): Promise<void>
  stop(): Promise<void>
}

let testEnvironment: TestEnvironment
let directory: string
let main: string
let one: string
let two: string
let agent: SupervisedAgent | undefined

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'crux-agent-bundle-'))
  main = join(await buildAgent(directory), 'agent.mjs')
  testEnvironment = await startTestEnvironment()
  one = (await testEnvironment.publish('web:1', webImage('one'))).reference
  two = (await testEnvironment.publish('web:2', webImage('two'))).reference
  await testEnvironment.agent.stop()
})
afterEach(async () => {
  await agent?.stop()
  await removeContainers(`dev.crux.node=${testEnvironment.owner.nodeId}`)
  await testEnvironment.clear()
})
afterAll(async () => {
  await testEnvironment.dispose()
  await rm(dirname(main), { recursive: true, force: true })
})

async function supervise(options: { preload?: string } = {}): Promise<SupervisedAgent> {
  const nodeOptions = options.preload ? ['--import', options.preload] : []
  const links = testEnvironment.server.links.length
  const outputs: (() => string)[] = []
  let wanted = true
  let exits = 0
  let current: ReturnType<typeof spawnAgent> | undefined
  const running = (async () => {
    while (wanted) {
      current = spawnAgent(testEnvironment.server, {
        main,
        dataDir: testEnvironment.dataDir,
        nodeId: testEnvironment.owner.nodeId,
        nodeOptions,
      })
      outputs.push(current.output)
      await current.exited
      exits += 1
    }
  })()
  agent = {
    get exits() {
      return exits
    },
    get pid() {
      return current?.child.pid
    },
    output: () => outputs.map((output) => output()).join(''),
    async kill() {
      const ended = current?.exited
      current?.child.kill('SIGKILL')
      await ended
    },
    async stop() {
      wanted = false
      current?.child.kill('SIGKILL')
      await running
    },
  }
  await waitUntil(
    'the agent connects',
    () => testEnvironment.server.links.length > links && testEnvironment.server.connected,
    40_000,
  )
  return agent
}

/** Code that runs in the agent's process before its own, with the effect of a bug of ours or of a library. */
async function preload(name: string, code: string): Promise<string> {
  const path = join(directory, `${name}.mjs`)
  await writeFile(path, code)
  return path
}

const web = (image: string, more: object = {}) => ({ instanceId: 'web', image, config: { name: 'web', ...more } })
const checking = (release: Release) => phaseReached(testEnvironment, release, Phase.VERIFY, PhaseState.RUNNING)
const getCrashes = async (release: Release) =>
  (await getJournal(testEnvironment, release))
    .flatMap(({ decision }) => (decision?.crashes ? [decision.crashes] : []))
    .at(-1)

async function killWhile(release: Release, kills: number): Promise<void> {
  for (let times = 1; times <= kills; times++) {
    await waitUntil(`the release is checked for the ${times}th time`, async () => {
      const counted = Object.values((await getCrashes(release)) ?? {}).reduce((sum, crashes) => sum + crashes, 0)
      const positions = (await getJournal(testEnvironment, release)).flatMap(({ decision }) => decision?.position ?? [])
      return counted === times - 1 && positions.at(-1) === 'start'
    })
    await agent?.kill()
  }
}

describe('a path that no HTTP client sends', () => {
  // Such a path could once be stored, and made a timer throw.
  test('fails its release with a reason while the agent continues to run', async () => {
    const supervised = await supervise()
    const { pid } = supervised
    const probed = (startupProbe: string) =>
      web(one, {
        ports: [{ internal: 8080 }],
        healthCheckConfig: { startupProbe },
        expectedState: { state: 'running', timeout: 4 },
      })
    const outcome = await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [probed('/日')] }))
    expect(outcome).toMatchObject({ successful: false, previousRestored: false })
    expect(outcome.reason).toContain('did not answer /日 on port 8080 within 4 s (it answered 404)')
    expect(
      await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [probed('/?日\r\nx: y')] })),
    ).toMatchObject({
      successful: true,
    })
    expect(supervised).toMatchObject({ pid, exits: 0 })
    expect(supervised.output()).not.toContain('unhandled error: the process continues')
  })
})

describe('an error that reaches no caller', () => {
  test('fails its own release and is logged with its origin while the agent continues to run', async () => {
    const supervised = await supervise({
      preload: await preload(
        'throws',
        `import http from 'node:http'
         import { syncBuiltinESMExports } from 'node:module'
         const { get } = http
         http.get = (options, ...rest) => {
           if (options.path === '/throws') setTimeout(() => { throw new Error('thrown in a timer') })
           if (options.path === '/rejects') Promise.reject(new Error('rejected by nobody'))
           return get(options, ...rest)
         }
         syncBuiltinESMExports()`,
      ),
    })
    const { pid } = supervised
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(one)] }))
    const before = (await testEnvironment.inspect('web')).Id
    for (const [path, reason] of [
      ['/throws', 'thrown in a timer'],
      ['/rejects', 'rejected by nobody'],
    ]) {
      const config = { ports: [{ internal: 8080 }], healthCheckConfig: { startupProbe: path } }
      const outcome = await testEnvironment.server.deployAndWait(
        testEnvironment.release({ instances: [web(two, config)] }),
      )
      expect(outcome).toMatchObject({ successful: false, previousRestored: true })
      expect(outcome.reason).toBe(`an error inside the agent: ${reason}`)
    }
    expect((await testEnvironment.inspect('web')).Id).toBe(before)
    expect(supervised).toMatchObject({ pid, exits: 0 })
    const logged = supervised
      .output()
      .split('\n')
      .filter((line) => line.includes('unhandled error: the process continues'))
      .map((line) => JSON.parse(line) as { where: string; count: number })
    expect(logged).toMatchObject([
      { where: 'uncaughtException', count: 1 },
      { where: 'unhandledRejection', count: 1 },
    ])
    // The agent still works.
    expect(
      await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(two)] })),
    ).toMatchObject({
      successful: true,
    })
  })
})

describe('a release that crashes its agent', () => {
  test('is undone and reported after three crashes at one position', async () => {
    await supervise()
    await testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(one)] }))
    const before = (await testEnvironment.inspect('web')).Id
    const release = testEnvironment.release({ observationWindowMs: 60_000, instances: [web(two)] })
    testEnvironment.server.deploy(release)
    await killWhile(release, 3)
    const outcome = await testEnvironment.server.getOutcome(release)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true, cancelled: false })
    expect(outcome.reason).toBe(
      'the agent ended 3 times while it started and checked the containers: the release is not tried again',
    )
    expect((await testEnvironment.inspect('web')).Id).toBe(before)
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
    expect(await testEnvironment.answer('web')).toBe('one')
  })

  test('does not affect another release that was in progress at the same time', async () => {
    await supervise()
    const other = { ...testEnvironment.owner, prefix: `${testEnvironment.owner.prefix}b` }
    const culprit = testEnvironment.release({ observationWindowMs: 60_000, instances: [web(one)] })
    const innocent = testEnvironment.release({ owner: other, observationWindowMs: 2_000, instances: [web(one)] })
    testEnvironment.server.deploy(culprit)
    await checking(culprit)
    testEnvironment.server.deploy(innocent)
    await checking(innocent)
    await killWhile(culprit, 3)
    expect(await testEnvironment.server.getOutcome(culprit)).toMatchObject({ successful: false })
    expect(await testEnvironment.server.getOutcome(innocent)).toMatchObject({ successful: true })
  })

  test('is left as it is and reported when three crashes interrupt the undo', async () => {
    const supervised = await supervise({
      preload: await preload(
        'dies',
        `import http from 'node:http'
         const { request } = http
         http.request = (...args) => {
           const { method, path } = args.find((arg) => typeof arg === 'object' && arg?.method) ?? {}
           if (method === 'DELETE' && /containers/.test(path)) process.kill(process.pid, 'SIGKILL')
           return request(...args)
         }`,
      ),
    })
    const ends = { commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: 'exit 5' }] }
    const release = testEnvironment.release({ instances: [web(one, ends)] })
    const outcome = await testEnvironment.server.deployAndWait(release)
    expect(supervised.exits).toBe(3)
    expect(outcome).toMatchObject({ successful: false, previousRestored: false })
    expect(outcome.reason).toContain('exit code 5')
    expect(outcome.reason).toContain('the agent ended 3 times while it undid the release, and left it so')
    await waitUntil(
      'the journal is gone',
      async () => (await readdir(join(testEnvironment.dataDir, '.agent', 'journal'))).length === 0,
    )
    expect(supervised.exits).toBe(3)
  })

  test('does not count an ordinary restart as a crash', async () => {
    await supervise()
    const release = testEnvironment.release({ observationWindowMs: 60_000, instances: [web(one)] })
    testEnvironment.server.deploy(release)
    for (let restarts = 1; restarts <= 4; restarts++) {
      await waitUntil(
        'the release is checked',
        async () =>
          (await getJournal(testEnvironment, release)).flatMap(({ decision }) => decision?.position ?? []).at(-1) ===
          'start',
      )
      const exits = agent?.exits ?? 0
      process.kill(agent?.pid ?? 0, 'SIGTERM')
      await waitUntil('the agent has ended', () => (agent?.exits ?? 0) > exits)
    }
    expect(await getCrashes(release)).toBeUndefined()
    await waitUntil('the link is back', () => testEnvironment.server.connected)
    testEnvironment.server.send({ case: 'cancelDeployment', value: release.key ? { release: release.key } : {} })
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ cancelled: true })
  })
})
