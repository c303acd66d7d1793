import { createServer } from 'node:net'
import { Phase, PhaseState, type Release } from '@crux/agent-protocol'
import { freePort, registryAccount, startRegistry } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { ownerLabels } from '../src/engines/labels.ts'
import {
  deploySuccessfully,
  expectUnchanged,
  startTestEnvironment,
  type TestEnvironment,
  waitForAnswer,
  webImage,
} from './kit/index.ts'

let testEnvironment: TestEnvironment
let good: string
beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  good = (await testEnvironment.publish('web:good', webImage('old'))).reference
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

const web = (image: string, more: object = {}) => ({ instanceId: 'web', image, config: { name: 'web', ...more } })
const failedPhase = (release: Release) =>
  (release.key ? testEnvironment.server.listEvents(release.key) : []).flatMap(({ event }) =>
    event.case === 'phase' && event.value.state === PhaseState.FAILED ? [event.value.phase] : [],
  )

/** The service before the attempt that fails. */
async function deployFirst(more: object = {}): Promise<string> {
  await deploySuccessfully(testEnvironment, testEnvironment.release({ instances: [web(good, more)] }))
  return (await testEnvironment.inspect('web')).Id
}

async function failing(release: Release) {
  const outcome = await testEnvironment.server.deployAndWait(release)
  expect(outcome).toMatchObject({ successful: false, containerNames: [] })
  return outcome
}

describe('a release that fails before it changes anything', () => {
  test("reports an unknown tag with the registry's message and leaves every other image as it was", async () => {
    const id = await deployFirst()
    const release = testEnvironment.release({
      instances: [
        web(good, { environment: [{ key: 'A', value: 'B' }] }),
        { instanceId: 'b', image: `${testEnvironment.registry.host}/web:nope`, config: { name: 'b' } },
      ],
    })
    const outcome = await failing(release)
    expect(outcome).toMatchObject({ instanceId: 'b', previousRestored: true })
    expect(outcome.reason).toMatch(/has no image .*web:nope.*manifest unknown/)
    expect(failedPhase(release)).toEqual([Phase.RESOLVE])
    await expectUnchanged(testEnvironment, id)
  })

  test('reports the address of a registry that is down even when the image is present', async () => {
    const id = await deployFirst()
    await testEnvironment.registry.stop()
    try {
      const outcome = await failing(
        testEnvironment.release({ instances: [web(good, { environment: [{ key: 'A', value: 'B' }] })] }),
      )
      expect(outcome.reason).toContain('does not answer')
      expect(outcome.reason).toContain(testEnvironment.registry.host)
    } finally {
      await testEnvironment.registry.start()
    }
    await expectUnchanged(testEnvironment, id)
  })

  test('reports wrong and missing credentials as such and accepts right ones', async () => {
    const guarded = await startRegistry({ auth: true })
    const credentials = { username: registryAccount.user, password: registryAccount.token }
    try {
      const image = `${guarded.host}/web:1`
      await guarded.push('web', '1', webImage('guarded'))
      const attempt = (auth?: { username: string; password: string }) =>
        testEnvironment.server.deployAndWait(
          testEnvironment.release({
            instances: [{ ...web(image), ...(auth ? { auth: { serverAddress: guarded.host, ...auth } } : {}) }],
          }),
        )
      expect((await attempt({ username: 'crux', password: 'wrong' })).reason).toContain(
        "check the registry's credentials",
      )
      expect((await attempt()).reason).toContain("check the registry's credentials")
      expect(await attempt(credentials)).toMatchObject({ successful: true })
    } finally {
      await guarded.remove()
    }
  })

  test('names a container without an owner that has the wanted name and leaves it alone', async () => {
    const foreign = await testEnvironment.docker.createContainer({ name: testEnvironment.name('web'), Image: good })
    await foreign.start()
    const outcome = await failing(testEnvironment.release({ instances: [web(good)] }))
    expect(outcome.reason).toContain(
      `the container ${testEnvironment.name('web')} exists already and is not this project's`,
    )
    expect((await testEnvironment.inspect('web')).Id).toBe(foreign.id)
    expect((await testEnvironment.inspect('web')).State.Running).toBe(true)
  })

  test("names another project's container that has the wanted name and leaves it alone", async () => {
    const id = await deployFirst()
    const owner = { ...testEnvironment.owner, projectId: 'another' }
    const outcome = await failing(testEnvironment.release({ owner, instances: [web(good)] }))
    expect(outcome).toMatchObject({ instanceId: 'web', previousRestored: false })
    expect(outcome.reason).toContain(testEnvironment.name('web'))
    await expectUnchanged(testEnvironment, id)
  })

  test.each([
    {
      whose: 'the team, with its name',
      labels: () => ownerLabels(testEnvironment.owner),
      named: () => testEnvironment.name('holder'),
    },
    { whose: 'others, without its name', labels: () => ({}), named: () => "a container that is not this team's" },
  ])(
    'reports a port that another container holds while the old one keeps running: one of $whose',
    async ({ labels, named }) => {
      const Labels: Record<string, string> = labels()
      const [own, taken] = [await freePort(), await freePort()]
      const id = await deployFirst({ ports: [{ internal: 8080, external: own }] })
      const holder = await testEnvironment.docker.createContainer({
        name: testEnvironment.name('holder'),
        Image: good,
        ExposedPorts: { '8080/tcp': {} },
        HostConfig: { PortBindings: { '8080/tcp': [{ HostPort: String(taken) }] } },
        Labels,
      })
      await holder.start()
      const outcome = await failing(
        testEnvironment.release({ instances: [web(good, { ports: [{ internal: 8080, external: taken }] })] }),
      )
      expect(outcome.reason).toBe(`port ${taken} is taken by ${named()}: choose another port or stop it`)
      await holder.remove({ force: true })
      await expectUnchanged(testEnvironment, id)
    },
  )

  test('reports a port that a process of the machine holds before the old container is stopped', async () => {
    const own = await freePort()
    const id = await deployFirst({ ports: [{ internal: 8080, external: own }] })
    const { StartedAt } = (await testEnvironment.inspect('web')).State
    const blocker = createServer()
    const port = await new Promise<number>((resolve) =>
      blocker.listen(0, '0.0.0.0', () => resolve((blocker.address() as { port: number }).port)),
    )
    try {
      const outcome = await failing(
        testEnvironment.release({
          instances: [
            web(good, {
              ports: [
                { internal: 8080, external: own },
                { internal: 81, external: port },
              ],
            }),
          ],
        }),
      )
      expect(outcome.reason).toBe(
        `port ${port} is taken by another process of the machine: choose another port or stop it`,
      )
    } finally {
      blocker.close()
    }
    expect((await testEnvironment.inspect('web')).State.StartedAt).toBe(StartedAt)
    await expectUnchanged(testEnvironment, id)
  })

  test('refuses two images of one release with the same name or port', async () => {
    expect(
      (await failing(testEnvironment.release({ instances: [web(good), { ...web(good), instanceId: 'b' }] }))).reason,
    ).toContain('two images of the release have the container name')
    const ports = [{ internal: 8080, external: await freePort() }]
    const outcome = await failing(
      testEnvironment.release({
        instances: [web(good, { ports }), { instanceId: 'b', image: good, config: { name: 'b', ports } }],
      }),
    )
    expect(outcome.reason).toContain('of the same release too')
    expect(await testEnvironment.names()).toEqual([])
  })

  test('refuses settings that this agent cannot apply or that only an admin may use instead of leaving them out', async () => {
    const reasons = async (config: object, allowed = false) =>
      (
        await testEnvironment.server.deployAndWait(
          testEnvironment.release({ hostDangerousAllowed: allowed, instances: [web(good, config)] }),
        )
      ).reason
    expect(await reasons({ networkMode: 'host' })).toContain("needs an admin's permission")
    expect(await reasons({ volumes: [{ name: '/etc', path: '/data' }] })).toContain("needs an admin's permission")
    expect(await reasons({ capabilities: [{ key: 'SYS_ADMIN', value: 'add' }] })).toContain(
      "needs an admin's permission",
    )
    expect(await reasons({ volumes: [{ name: '../x', path: '/data' }] })).toContain('is not a name for a volume')
    expect(await reasons({ secrets: [{ key: 'A', value: 'no message', encrypted: true }] })).toContain(
      'the secret A cannot be read on this node',
    )
    // A value that is not encrypted could also be read by the users who can store it.
    expect(await reasons({ secrets: [{ key: 'B', value: 'plain', encrypted: false }] })).toContain(
      'the secret B cannot be read on this node',
    )
    // The check runs before anything is pulled.
    const unreadable = testEnvironment.release({
      instances: [web(good, { secrets: [{ key: 'A', value: 'x', encrypted: true }] })],
    })
    await failing(unreadable)
    expect(failedPhase(unreadable)).toEqual([])
    expect(await testEnvironment.names()).toEqual([])
  })
})

describe('a new container that fails', () => {
  const crash = (script: string) => ({ commands: [{ key: '/bin/sh' }, { key: '-c' }], args: [{ key: script }] })

  test('by an immediate exit fails the release, reports its last lines and leaves the old container running', async () => {
    const id = await deployFirst()
    const { StartedAt } = (await testEnvironment.inspect('web')).State
    const release = testEnvironment.release({
      observationWindowMs: 3_000,
      instances: [web(good, crash('seq 1 150; sleep 0.1; echo cannot open the database >&2; exit 7'))],
    })
    const outcome = await failing(release)
    expect(outcome).toMatchObject({ instanceId: 'web', previousRestored: true, cancelled: false })
    expect(outcome.reason).toContain('stopped right after its start: exit code 7')
    const lines = testEnvironment.server.toLines(release, true)
    expect(lines).toHaveLength(100)
    expect(lines).toContain('cannot open the database')
    expect(failedPhase(release)).toEqual([Phase.VERIFY])
    await expectUnchanged(testEnvironment, id)
    expect((await testEnvironment.inspect('web')).State.StartedAt).toBe(StartedAt)
  })

  test('is not hidden by a restart policy that starts it again', async () => {
    const id = await deployFirst()
    const outcome = await failing(
      testEnvironment.release({ instances: [web(good, { ...crash('exit 0'), restartPolicy: 'always' })] }),
    )
    expect(outcome.reason).toContain('exit code 0')
    await expectUnchanged(testEnvironment, id)
  })

  test('within the observation window reverts all instances of the release', async () => {
    const id = await deployFirst()
    const release = testEnvironment.release({
      observationWindowMs: 10_000,
      instances: [
        web(good, { environment: [{ key: 'A', value: 'B' }] }),
        { instanceId: 'b', image: good, config: { name: 'b', ...crash('sleep 0.3; exit 1') } },
      ],
    })
    expect((await failing(release)).instanceId).toBe('b')
    await expectUnchanged(testEnvironment, id)
  })

  test('restores the old container with its port where the two cannot run at once', async () => {
    const port = await freePort()
    const id = await deployFirst({ ports: [{ internal: 8080, external: port }] })
    const outcome = await failing(
      testEnvironment.release({
        instances: [web(good, { ...crash('exit 1'), ports: [{ internal: 8080, external: port }] })],
      }),
    )
    expect(outcome.previousRestored).toBe(true)
    await expectUnchanged(testEnvironment, id)
    expect(await waitForAnswer(`http://127.0.0.1:${port}/`)).toBe('old')
  })

  test('because its command does not exist is reported with the message of the engine', async () => {
    const id = await deployFirst()
    const outcome = await failing(
      testEnvironment.release({ instances: [web(good, { commands: [{ key: '/bin/nothing' }] })] }),
    )
    expect(outcome.reason).toContain('/bin/nothing')
    await expectUnchanged(testEnvironment, id)
  })

  test('to reach its expected state is given up after its timeout', async () => {
    const id = await deployFirst()
    const never = await failing(
      testEnvironment.release({ instances: [web(good, { expectedState: { state: 'exited', timeout: 1 } })] }),
    )
    expect(never.reason).toContain('did not end within 1 s')
    const other = await failing(
      testEnvironment.release({
        instances: [web(good, { ...crash('exit 4'), expectedState: { state: 'exited', exitCode: 0 } })],
      }),
    )
    expect(other.reason).toContain('ended with exit code 4, expected was 0')
    await expectUnchanged(testEnvironment, id)
  })

  test('its health check, by its image or over HTTP, is given up', async () => {
    const healthCheck = { test: ['CMD', '/bin/sh', '-c', 'echo no heartbeat; exit 1'], intervalMs: 200, retries: 2 }
    const sick = await testEnvironment.publish('web:sick', { ...webImage('sick'), healthCheck })
    const id = await deployFirst()
    expect((await failing(testEnvironment.release({ instances: [web(sick.reference)] }))).reason).toMatch(
      /is unhealthy: no heartbeat/,
    )
    await expectUnchanged(testEnvironment, id)
    const release = testEnvironment.release({
      instances: [
        web(good, {
          ports: [{ internal: 8080 }],
          healthCheckConfig: { readinessProbe: '/missing' },
          expectedState: { state: 'running', timeout: 1 },
        }),
      ],
    })
    expect((await failing(release)).reason).toContain('did not answer /missing on port 8080 within 1 s')
    await expectUnchanged(testEnvironment, id)
    const fine = testEnvironment.release({
      instances: [web(good, { ports: [{ internal: 8080 }], healthCheckConfig: { readinessProbe: '/' } })],
    })
    expect(await testEnvironment.server.deployAndWait(fine)).toMatchObject({ successful: true })
  })

  test('in version 1.1.0 returns the service to the containers of 1.0.0', async () => {
    const first = testEnvironment.release({ instances: [{ instanceId: 'a-1', image: good, config: { name: 'web' } }] })
    await testEnvironment.server.deployAndWait(first)
    const { Id } = await testEnvironment.inspect('web')
    const outcome = await failing(
      testEnvironment.release({
        previous: [{ containerName: testEnvironment.name('web'), instanceId: 'a-1', release: first.key }],
        instances: [{ instanceId: 'b-1', image: good, config: { name: 'web', ...crash('exit 1') } }],
      }),
    )
    expect(outcome.previousRestored).toBe(true)
    await expectUnchanged(testEnvironment, Id)
  })
})
