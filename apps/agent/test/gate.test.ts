import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { freePort, idle } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildAgent } from '../scripts/build.ts'
import {
  askPort,
  loadPort,
  lookAtGate,
  spawnAgent,
  startTestEnvironment,
  type TestEnvironment,
  waitUntil,
  webImage,
} from './kit/index.ts'

const full = process.env.CRUX_TEST_FULL === '1'
let testEnvironment: TestEnvironment
let one: string
let two: string
let broken: string
let deaf: string

beforeAll(async () => {
  testEnvironment = await startTestEnvironment()
  const images = {
    one: webImage('one'),
    two: webImage('two'),
    broken: { cmd: ['/bin/false'] },
    deaf: idle(),
  }
  const made = await Promise.all(
    Object.entries(images).map(([name, image]) => testEnvironment.publish(`${name}:1`, image)),
  )
  ;[one = '', two = '', broken = '', deaf = ''] = made.map(({ reference }) => reference)
})
afterEach(() => testEnvironment.clear())
afterAll(() => testEnvironment.dispose())

const web = (image: string, port: number, more: object = {}) => ({
  instanceId: 'web',
  image,
  config: { name: 'web', ports: [{ internal: 8080, external: port }], portGate: { enabled: true }, ...more },
})
const deploy = (image: string, port: number, more: object = {}) =>
  testEnvironment.server.deployAndWait(testEnvironment.release({ instances: [web(image, port, more)] }))

describe('a port that stays open', () => {
  test('answers through the gate while the engine does not publish it', async () => {
    const port = await freePort()
    expect(await deploy(one, port)).toMatchObject({ successful: true })
    expect(await askPort(port)).toBe('one')
    expect(await askPort(port, '::1')).toBe('one')
    expect((await testEnvironment.inspect('web')).HostConfig.PortBindings).toEqual({})
    const answer = await testEnvironment.server.ask({
      case: 'listContainers',
      value: { prefix: testEnvironment.owner.prefix },
    })
    const listed = answer?.case === 'containers' ? answer.value.containers : []
    expect(listed[0]?.ports).toMatchObject([{ internal: 8080, external: port, protocol: 'tcp' }])
    await testEnvironment.clear()
    await waitUntil('the gate ends with the last port', async () => !(await lookAtGate(testEnvironment.dataDir)))
  })

  test(
    'loses no request while its container is replaced, including failed attempts',
    async () => {
      const port = await freePort()
      await deploy(one, port)
      const requests = loadPort(port, full ? 8 : 4)
      const wanted = full ? { deployments: 50, requests: 100_000 } : { deployments: 4, requests: 3_000 }
      let deployments = 0
      let failed = 0
      for (; deployments < wanted.deployments || requests.total() < wanted.requests; deployments += 1) {
        const round = deployments
        // Every second of four fails, in the full run every fifth: because it ends, or because it listens on nothing.
        const kind = round % (full ? 5 : 4)
        const bad = full ? kind === 1 : kind === 1 || kind === 2
        const image = bad ? (round % 2 === 1 ? broken : deaf) : round % 2 === 0 ? two : one
        const timeoutMs = bad
          ? { expectedState: { state: 'running', timeout: 2 } }
          : { environment: [{ key: 'ROUND', value: `${round}` }] }
        const outcome = await deploy(image, port, timeoutMs)
        expect(outcome).toMatchObject({ successful: !bad, previousRestored: bad })
        if (bad) failed += 1
      }
      await requests.stop()
      expect(requests.bad).toEqual([])
      expect(Object.keys(requests.seen).sort()).toEqual(['one', 'two'])
      expect(failed).toBeGreaterThanOrEqual(full ? 10 : 2)
      expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
      if (full)
        process.stdout.write(
          `${requests.total()} requests, 0 failed, during ${deployments} deployments of which ${failed} failed\n`,
        )
    },
    full ? 1_800_000 : 120_000,
  )

  test('is enabled, moved and disabled and stays free where a release fails', async () => {
    const [port, other] = [await freePort(), await freePort()]
    const plain = { portGate: { enabled: false } }
    await deploy(one, port, plain)
    const on = testEnvironment.release({ instances: [web(two, port)] })
    expect(await testEnvironment.server.deployAndWait(on)).toMatchObject({ successful: true })
    expect(testEnvironment.server.toLines(on).join()).toContain(`port ${port} passes from the engine to the gate`)
    expect(await askPort(port)).toBe('two')

    expect(await deploy(one, other)).toMatchObject({ successful: true })
    expect(await askPort(other)).toBe('one')
    await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    // The new container would have the engine publish the port: it fails, and the gate has the port again.
    expect(await deploy(broken, other, plain)).toMatchObject({ successful: false, previousRestored: true })
    expect(await askPort(other)).toBe('one')
    expect(await deploy(broken, port)).toMatchObject({ successful: false, previousRestored: true })
    expect(await askPort(other)).toBe('one')
    await expect(askPort(port)).rejects.toMatchObject({ code: 'ECONNREFUSED' })

    expect(await deploy(two, other, plain)).toMatchObject({ successful: true })
    expect(await askPort(other)).toBe('two')
    await waitUntil('the gate ends with its last port', async () => !(await lookAtGate(testEnvironment.dataDir)))
  })

  test('with draining previous connections does not keep an agent from ending and the next agent continues to wait', async () => {
    const port = await freePort()
    const portGate = { enabled: true, drainSeconds: 600 }
    await deploy(one, port, { portGate })
    const client = connect(port, '127.0.0.1')
    client.on('error', () => undefined)
    await once(client, 'connect')
    const gateCounts = async () => (await lookAtGate(testEnvironment.dataDir))?.connections === 1
    await waitUntil('the gate counts the connection', gateCounts)
    const release = testEnvironment.release({ instances: [web(two, port, { portGate })] })
    const waits = () =>
      testEnvironment.server.toLines(release).filter((line) => line.includes('waits at most 600 s')).length
    testEnvironment.server.deploy(release)
    await waitUntil('it waits for the connection', () => waits() === 1)
    await testEnvironment.restartAgent()
    await waitUntil('it waits again', () => waits() === 2)
    client.destroy()
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: true })
    expect(await testEnvironment.names()).toEqual([testEnvironment.name('web')])
  })

  test('that another process holds is refused before anything changes', async () => {
    const port = await freePort()
    await deploy(one, port)
    const { Id } = await testEnvironment.inspect('web')
    const squatter = createServer().listen(await freePort())
    await once(squatter, 'listening')
    const taken = (squatter.address() as AddressInfo).port
    const outcome = await deploy(two, taken)
    expect(outcome).toMatchObject({ successful: false, previousRestored: true })
    expect(outcome.reason).toBe(
      `port ${taken} is taken by another process of the machine: choose another port or stop it`,
    )
    const rival = await testEnvironment.server.deployAndWait(
      testEnvironment.release({
        instances: [{ ...web(two, port), instanceId: 'b', config: { ...web(two, port).config, name: 'b' } }],
      }),
    )
    expect(rival.reason).toBe(`port ${port} is taken by ${testEnvironment.name('web')}: choose another port or stop it`)
    expect((await testEnvironment.inspect('web')).Id).toBe(Id)
    expect(await askPort(port)).toBe('one')
    squatter.close()

    // Two that start at once both find it free.
    const free = await freePort()
    const outcomes = await Promise.all(
      ['a', 'b'].map((suffix) =>
        testEnvironment.server.deployAndWait(
          testEnvironment.release({
            owner: { ...testEnvironment.owner, prefix: `${testEnvironment.owner.prefix}-${suffix}` },
            instances: [web(one, free)],
          }),
        ),
      ),
    )
    expect(outcomes.map(({ successful }) => successful).sort()).toEqual([false, true])
    expect(outcomes.find(({ successful }) => !successful)?.reason).toContain(`port ${free} is taken by`)
  })

  test('leaves UDP to the engine and lets the clients of a service wait that must stop first', async () => {
    const [port, udp] = [await freePort(), await freePort()]
    const more = {
      ports: [
        { internal: 8080, external: port },
        { internal: 5353, external: udp, protocol: 'udp' as const },
      ],
    }
    await deploy(one, port, more)
    expect((await testEnvironment.inspect('web')).HostConfig.PortBindings).toEqual({
      '5353/udp': [{ HostIp: '', HostPort: `${udp}` }],
    })
    const requests = loadPort(port, 1)
    expect(await deploy(two, port, more)).toMatchObject({ successful: true })
    await waitUntil('the new one answers', () => (requests.seen.two ?? 0) > 0)
    await requests.stop()
    expect(requests.bad).toEqual([])
  })

  test('follows its container to another address and is free while the container is stopped', async () => {
    const port = await freePort()
    await deploy(one, port)
    const container = testEnvironment.docker.getContainer((await testEnvironment.inspect('web')).Id)
    const [network = ''] = Object.keys((await testEnvironment.inspect('web')).NetworkSettings.Networks)
    await container.stop()
    await waitUntil('the port is free', () => isRefused(port))
    const squatter = await testEnvironment.docker.createContainer({
      name: testEnvironment.name('squatter'),
      Image: two,
      HostConfig: { NetworkMode: network },
    })
    await squatter.start()
    await container.start()
    expect(await waitUntil('it answers again', () => askPort(port).catch(() => undefined))).toBe('one')
  })

  test('is held again when the gate is killed even in the middle of a release', async () => {
    const port = await freePort()
    await deploy(one, port)
    const { pid: killed } = await separateGate()
    process.kill(killed, 'SIGKILL')
    expect(await waitUntil('it answers again', () => askPort(port).catch(() => undefined))).toBe('one')
    expect((await lookAtGate(testEnvironment.dataDir))?.pid).not.toBe(killed)

    const release = testEnvironment.release({ observationWindowMs: 2_000, instances: [web(two, port)] })
    testEnvironment.server.deploy(release)
    await waitUntil('it is being verified', async () => (await getJournal(release)).includes('PHASE_VERIFY'))
    process.kill((await separateGate()).pid, 'SIGKILL')
    expect(await waitUntil('it answers again', () => askPort(port).catch(() => undefined))).toBe('one')
    expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: true })
    expect(await askPort(port)).toBe('two')
  })
})

describe('an agent that restarts', () => {
  let bundle: string
  let spawned: ReturnType<typeof spawnAgent> | undefined
  beforeAll(async () => {
    bundle = await buildAgent(await mkdtemp(join(tmpdir(), 'crux-agent-bundle-')))
  })
  afterAll(async () => {
    await kill()
    await rm(bundle, { recursive: true, force: true })
  })
  async function kill(): Promise<void> {
    spawned?.child.kill('SIGKILL')
    await spawned?.exited
  }
  async function startProcess(): Promise<void> {
    const links = testEnvironment.server.links.length
    const { dataDir, owner } = testEnvironment
    spawned = spawnAgent(testEnvironment.server, { main: join(bundle, 'agent.mjs'), dataDir, nodeId: owner.nodeId })
    await waitUntil(
      'it connects',
      () => testEnvironment.server.links.length > links && testEnvironment.server.connected,
      40_000,
    )
  }

  test('leaves the ports open, lets another version take them over and continues a handover in which it was killed', async () => {
    const port = await freePort()
    await deploy(one, port)
    const before = await lookAtGate(testEnvironment.dataDir)
    const requests = loadPort(port, 2)
    await testEnvironment.agent.stop()
    expect((await lookAtGate(testEnvironment.dataDir))?.pid).toBe(before?.pid)
    // The bundle's code has another version than the sources: for the gate this is an update.
    await startProcess()
    const after = await waitUntil('the gate is the new one', async () => {
      const now = await lookAtGate(testEnvironment.dataDir)
      return now && now.code !== before?.code && now
    })
    expect(after.ports).toEqual(before?.ports)

    for (const phase of ['VERIFY', 'SWAP']) {
      const answer = phase === 'VERIFY' ? 'two' : 'one'
      const release = testEnvironment.release({
        observationWindowMs: 600,
        instances: [web(answer === 'two' ? two : one, port)],
      })
      testEnvironment.server.deploy(release)
      await waitUntil(`the phase ${phase}`, async () => (await getJournal(release)).includes(`PHASE_${phase}`))
      await kill()
      await startProcess()
      expect(await testEnvironment.server.getOutcome(release)).toMatchObject({ successful: true })
      expect(await askPort(port)).toBe(answer)
    }
    await requests.stop()
    expect(requests.bad).toEqual([])
    await kill()
    await testEnvironment.restartAgent()
  })

  test(
    "finds its ports open whenever it was killed with the gate, which the gate's parent restarts",
    async () => {
      const port = await freePort()
      await deploy(one, port)
      await testEnvironment.agent.stop()
      const times: number[] = []
      for (let round = 0; round < (full ? 50 : 5); round += 1) {
        await startProcess()
        expect(await askPort(port)).toBe('one')
        const killed = await separateGate()
        spawned?.child.kill('SIGKILL')
        process.kill(killed.pid, 'SIGKILL')
        await spawned?.exited
        const began = performance.now()
        // No agent runs until the port has answered.
        expect(await waitUntil('the port answers', () => askPort(port).catch(() => undefined))).toBe('one')
        times.push(performance.now() - began)
        const now = await waitUntil('the gate answers', () => lookAtGate(testEnvironment.dataDir))
        // A port that was still taken for a moment comes last.
        expect(now.ports.toSorted(byPort)).toEqual(killed.ports.toSorted(byPort))
        expect(now.pid).not.toBe(killed.pid)
      }
      process.stdout.write(`the port answered again within ${Math.max(...times).toFixed(0)} ms\n`)

      // The parent is killed as well, so the next agent restores the ports.
      const { pid } = await separateGate()
      process.kill(Number(await readFile(parentPath(), 'utf8')), 'SIGKILL')
      process.kill(pid, 'SIGKILL')
      await kill()
      await waitUntil('the port refuses', () => isRefused(port))
      await startProcess()
      expect(await waitUntil('the port answers', () => askPort(port).catch(() => undefined))).toBe('one')
      await kill()
      await testEnvironment.restartAgent()
    },
    full ? 600_000 : 120_000,
  )
})

const byPort = (left: { port: number }, right: { port: number }) => left.port - right.port
const parentPath = () => join(testEnvironment.dataDir, '.agent', 'gate', 'parent.pid')

/** For some moments after an end the parent itself is the gate. */
const separateGate = () =>
  waitUntil('the gate is a process of its own', async () => {
    const gate = await lookAtGate(testEnvironment.dataDir)
    return gate && gate.pid !== Number(await readFile(parentPath(), 'utf8').catch(() => '')) && gate
  })

const isRefused = (port: number) =>
  askPort(port).then(
    () => false,
    (error) => error.code === 'ECONNREFUSED',
  )

async function getJournal({ key }: Release): Promise<string> {
  return readFile(
    join(testEnvironment.dataDir, '.agent', 'journal', `${key?.deploymentId}.${key?.number}.jsonl`),
    'utf8',
  ).catch(() => '')
}
