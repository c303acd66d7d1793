import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Release } from '@crux/agent-protocol'
import { kubernetesImage, kubernetesMissing } from '@crux/test-kit'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildAgent } from '../scripts/build.ts'
import { openStateObjects, type StateObjects } from '../src/engines/kubernetes/client/state-objects.ts'
import { type LeaseTimes, openLeaseElection } from '../src/engines/kubernetes/state/lease-election.ts'
import { spawnAgent } from './kit/agents.ts'
import { openTestCluster, silent, type TestCluster } from './kit/cluster.ts'
import { FakeServer } from './kit/fake-server.ts'
import { makeRelease } from './kit/releases.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
let testCluster: TestCluster
beforeAll(async () => {
  if (!missing) testCluster = await openTestCluster()
})
afterAll(() => testCluster?.dispose())

const path = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/crux-agent`
const patchLease = (namespace: string, body: unknown) =>
  testCluster.admin.json({
    method: 'PATCH',
    path: path(namespace),
    contentType: 'application/merge-patch+json',
    body,
  })

describe.skipIf(missing)('the lease of two agents', () => {
  // A renewal may be a second late where several tests share a core.
  const times: LeaseTimes = { renewEvery: 200, stopAfter: 2_000, expiresAfter: 4_000, readEvery: 20, answer: 1_000 }
  const opened: StateObjects[] = []
  const ending = new AbortController()
  afterEach(() => {
    for (const objects of opened.splice(0)) objects.close()
  })
  afterAll(() => ending.abort())

  async function openElection(namespace: string, kubeconfig = testCluster.kubeconfig) {
    const objects = await openStateObjects({ kubeconfig, namespace })
    opened.push(objects)
    const election = openLeaseElection(objects, silent, times)
    return {
      async acquire(signal = ending.signal) {
        const leadership = await election.acquire(signal)
        if (!leadership) throw new Error('the wait for the lease was ended')
        return leadership
      },
    }
  }
  /** In which order things happened. */
  function listen() {
    const order: string[] = []
    return { order, note: (what: string) => () => order.push(what) }
  }

  test('is of one at a time, and the next one gets it when it is released', async () => {
    const namespace = await testCluster.createNamespace()
    const elections = await Promise.all([1, 2, 3].map(() => openElection(namespace)))
    let holders = 0
    let most = 0
    await Promise.all(
      elections.map(async (election) => {
        for (let turn = 0; turn < 3; turn += 1) {
          const leadership = await election.acquire()
          holders += 1
          most = Math.max(most, holders)
          await testCluster.admin.json({ path: path(namespace) })
          holders -= 1
          expect(leadership.lost.aborted).toBe(false)
          await leadership.release()
        }
      }),
    )
    expect(most).toBe(1)
  })

  test('is lost by a holder that is cut off, before another one has it', async () => {
    const namespace = await testCluster.createNamespace()
    const proxy = await testCluster.openProxy()
    const { note, order } = listen()
    const first = await (await openElection(namespace, proxy.kubeconfig)).acquire()
    first.lost.addEventListener('abort', note('lost'))
    const waiting = (await openElection(namespace)).acquire()
    proxy.silence()
    const second = await waiting
    note('taken over')()
    expect(order).toEqual(['lost', 'taken over'])
    await first.release()
    expect(second.lost.aborted).toBe(false)
    await second.release()
    proxy.endSilence()
    await proxy.cut()
  })

  test('is kept by a holder that renews it, whatever the clocks of the machines say', async () => {
    const namespace = await testCluster.createNamespace()
    const leadership = await (await openElection(namespace)).acquire()
    const stop = new AbortController()
    const other = (await openElection(namespace)).acquire(stop.signal)
    let overlaps = 0
    other.then(
      () => (overlaps += 1),
      () => undefined,
    )
    const renewals = new Set<string>()
    const begin = performance.now()
    await waitUntil('the lease was renewed for longer than it lasts', async () => {
      renewals.add(JSON.stringify(await testCluster.admin.json({ path: path(namespace) })))
      return renewals.size > 10 && performance.now() - begin > 1.5 * times.expiresAfter
    })
    expect(overlaps).toBe(0)
    expect(leadership.lost.aborted).toBe(false)
    stop.abort()
    await expect(other).rejects.toThrow()
    await leadership.release()
  })

  test('is taken again at once by the process whose own turn has ended, when no other has it', async () => {
    const namespace = await testCluster.createNamespace()
    const proxy = await testCluster.openProxy()
    const election = await openElection(namespace, proxy.kubeconfig)
    const first = await election.acquire()
    await proxy.cut()
    await waitUntil('it is lost', () => first.lost.aborted)
    await first.release()
    const { note, order } = listen()
    const others = (await openElection(namespace)).acquire()
    others.then(note('another'), () => undefined)
    await proxy.heal()
    const second = await election.acquire()
    note('the same')()
    await second.release()
    await (await others).release()
    expect(order).toEqual(['the same', 'another'])
    await proxy.cut()
  })

  test('of a holder that is gone is not taken over by its times, but when nobody renews it', async () => {
    const namespace = await testCluster.createNamespace()
    const past = '2001-01-01T00:00:00.000000Z'
    await testCluster.admin.json({
      method: 'POST',
      path: dirname(path(namespace)),
      body: {
        metadata: { name: 'crux-agent' },
        spec: { holderIdentity: 'another', renewTime: past, leaseDurationSeconds: 1 },
      },
    })
    const { note, order } = listen()
    const waiting = (await openElection(namespace)).acquire()
    waiting.then(note('taken over'), () => undefined)
    // The holder's clock has stopped, but it changes the lease.
    const began = performance.now()
    await waitUntil('it was changed for longer than it lasts', async () => {
      const change = String(performance.now())
      await patchLease(namespace, { metadata: { annotations: { change } } })
      return performance.now() - began > 1.5 * times.expiresAfter
    })
    note('the last change')()
    const leadership = await waiting
    expect(order).toEqual(['the last change', 'taken over'])
    await leadership.release()
  })

  test('is kept when another program changes its labels, and lost when another takes or deletes it', async () => {
    const namespace = await testCluster.createNamespace()
    const election = await openElection(namespace)
    const leadership = await election.acquire()
    await patchLease(namespace, { metadata: { labels: { backup: 'yes' } } })
    const before = JSON.stringify(await testCluster.admin.json({ path: path(namespace) }))
    await waitUntil(
      'it was renewed since',
      async () => JSON.stringify(await testCluster.admin.json({ path: path(namespace) })) !== before,
    )
    expect(leadership.lost.aborted).toBe(false)
    await patchLease(namespace, { spec: { holderIdentity: 'another' } })
    await waitUntil('it is lost', () => leadership.lost.aborted)
    await leadership.release()
    const again = await election.acquire()
    await testCluster.admin.json({ method: 'DELETE', path: path(namespace) })
    await waitUntil('it is lost again', () => again.lost.aborted)
    const last = await election.acquire()
    await last.release()
  })
})

describe.skipIf(missing)('two agents of a node with their state in Secrets', () => {
  let main: string
  let server: FakeServer
  let namespace: string
  let owner: { teamId: string; projectId: string; nodeId: string; prefix: string }
  const spawned: ReturnType<typeof spawnAgent>[] = []
  beforeAll(async () => {
    main = join(await buildAgent(await mkdtemp(join(tmpdir(), 'crux-agent-bundle-'))), 'agent.mjs')
  })
  afterAll(() => rm(dirname(main), { recursive: true, force: true }))

  async function prepare(): Promise<void> {
    server = new FakeServer()
    await server.start()
    namespace = await testCluster.createNamespace()
    owner = { teamId: 'team-1', projectId: 'project-1', nodeId: server.nodeId, prefix: testCluster.newNamespace() }
    server.scope = { teamId: owner.teamId, nodeId: owner.nodeId }
    await testCluster.cluster.create({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'crux-agent-install', namespace },
      stringData: { token: server.newInstallToken() },
    })
  }
  afterEach(async () => {
    for (const { child, exited } of spawned.splice(0)) {
      child.kill('SIGKILL')
      await exited
    }
    await server?.stop()
  })

  /** No data directory can be made there, as on the read-only root file system of a pod. */
  const dataDir = '/proc/crux'
  function start(kubeconfig = testCluster.kubeconfig) {
    const env = { CRUX_KUBECONFIG: kubeconfig, CRUX_STATE_NAMESPACE: namespace }
    const agent = spawnAgent(server, { main, dataDir, env })
    spawned.push(agent)
    return agent
  }
  const waitsForLease = (agent: ReturnType<typeof spawnAgent>) =>
    waitUntil('it waits for the lease', () => agent.output().includes('another agent of this node works'), 40_000)
  const script = (text: string) =>
    `mkdir -p /tmp/www; echo ${text} > /tmp/www/index.html; trap 'exit 0' TERM; httpd -f -p 8080 -h /tmp/www & wait`
  const toRelease = (number: number, text: string, startPeriodSeconds = 1): Release =>
    makeRelease({
      owner,
      deploymentId: 'deployment-1',
      number,
      previous: number > 1 ? [{ containerName: `${owner.prefix}-web`, instanceId: 'web' }] : [],
      instances: [
        {
          instanceId: 'web',
          image: kubernetesImage,
          localOnly: true,
          config: {
            name: 'web',
            ports: [{ internal: 8080, external: 80 }],
            commands: [{ key: '/bin/sh' }, { key: '-c' }],
            args: [{ key: script(text) }],
            healthCheckConfig: { readinessProbe: '/', port: 8080, startPeriodSeconds },
          },
        },
      ],
    })
  const pods = async () =>
    (await testCluster.cluster.list('Pod', { namespace: owner.prefix })).objects.filter(({ deletedAt }) => !deletedAt)
  const listState = async () =>
    (await testCluster.cluster.list('Secret', { namespace })).objects.map(({ name }) => name).sort()
  const reached = (count: number) => waitUntil(`${count} pods`, async () => (await pods()).length === count, 40_000)

  test('one works; when it is killed in a release, the other goes on with it, and the next waits', async () => {
    await prepare()
    const first = start()
    await waitUntil('the first connects', () => server.connected, 40_000)
    expect(await listState()).toEqual(['crux-agent-state'])
    const second = start()
    await waitsForLease(second)
    expect(await server.deployAndWait(toRelease(1, 'one'))).toMatchObject({ successful: true, reason: '' })
    const release = toRelease(2, 'two', 6)
    server.deploy(release)
    await reached(2)
    expect((await listState()).filter((name) => name.startsWith('crux-agent-journal-'))).toHaveLength(1)
    first.child.kill('SIGKILL')
    await first.exited
    expect(await server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
    expect(server.links).toHaveLength(2)
    expect(new Set(server.links.map(({ publicKey }) => publicKey)).size).toBe(1)
    await waitUntil('the journal is gone', async () => (await listState()).length === 1)
    const third = start()
    await waitsForLease(third)
    second.child.kill('SIGTERM')
    expect(await second.exited).toMatchObject({ code: 143 })
    // Its lease is released, so that the next one need not wait until it expires.
    await waitUntil('the third connects', () => server.links.length === 3 && server.connected)
    expect(await server.deployAndWait(toRelease(3, 'three'))).toMatchObject({ successful: true, reason: '' })
  })

  test('one that is cut off stops, leaves its release to the other, and waits when it is back', async () => {
    await prepare()
    const proxy = await testCluster.openProxy()
    const first = start(proxy.kubeconfig)
    await waitUntil('the first connects', () => server.connected, 40_000)
    const second = start()
    await waitsForLease(second)
    const release = toRelease(1, 'one', 25)
    server.deploy(release)
    await reached(1)
    await proxy.cut()
    await waitUntil('the first stops', () => first.output().includes('has lost the lease'), 40_000)
    await waitUntil('the second connects', () => server.links.length === 2 && server.connected, 40_000)
    await proxy.heal()
    await waitsForLease(first)
    expect(await server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
    expect(server.links).toHaveLength(2)
    expect(first.child.exitCode).toBe(null)
    second.child.kill('SIGTERM')
    await second.exited
    await waitUntil('the first works again', () => server.links.length === 3 && server.connected)
    expect(await server.deployAndWait(toRelease(2, 'two'))).toMatchObject({ successful: true, reason: '' })
    await proxy.cut()
  })

  test('one that was suspended does nothing any more when another one has taken over', async () => {
    await prepare()
    const first = start()
    await waitUntil('the first connects', () => server.connected, 40_000)
    const second = start()
    await waitsForLease(second)
    const release = toRelease(1, 'one', 20)
    server.deploy(release)
    await reached(1)
    first.child.kill('SIGSTOP')
    await waitUntil('the second connects', () => server.links.length === 2, 60_000)
    first.child.kill('SIGCONT')
    await waitUntil('the first notices', () => first.output().includes('has lost the lease'), 40_000)
    expect(await server.getOutcome(release)).toMatchObject({ successful: true, reason: '' })
    expect(second.output()).not.toContain('another program has changed')
    await waitUntil('the journal is gone', async () => (await listState()).length === 1)
  })
})
