import { ContainerState, Operation } from '@crux/agent-protocol'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineEvent, LogRequest } from '../src/engines/engine.ts'
import type { Manifest } from '../src/engines/kubernetes/cluster/cluster.ts'
import { createWorkloadView, type WorkloadView } from '../src/engines/kubernetes/workloads/workload-view.ts'
import { label } from '../src/engines/labels.ts'
import { describeEngine } from './engine-suite.ts'
import { openTestCluster, printAndWait, silent, type TestCluster, toOwnLabels, toWorkload } from './kit/cluster.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()

describeEngine(
  'Kubernetes',
  async () => {
    const testCluster = await openTestCluster()
    const { cluster } = testCluster
    const view = createWorkloadView(cluster, silent)
    const prefix = await testCluster.createNamespace()
    return {
      view,
      describe: () => cluster.describe(),
      prefix,
      async run(namespace, name, lines) {
        const workload = await cluster.create(toWorkload(namespace, name, printAndWait(lines)))
        await waitUntil('the workload runs', async () =>
          (await view.view([workload.uid])).some(({ state }) => state === ContainerState.RUNNING),
        )
      },
      async dispose() {
        view.close()
        await testCluster.dispose()
      },
    }
  },
  missing,
)

describe.skipIf(missing)('the workloads of a cluster', () => {
  let testCluster: TestCluster
  let view: WorkloadView
  let namespace: string
  beforeAll(async () => {
    testCluster = await openTestCluster()
    view = createWorkloadView(testCluster.cluster, silent)
    namespace = await testCluster.createNamespace()
    await view.list({})
  })
  afterAll(async () => {
    view?.close()
    await testCluster?.dispose()
  })

  const apply = async (manifest: Manifest) => (await testCluster.cluster.create(manifest)).uid
  const row = async (id: string) => (await view.view([id]))[0]
  const awaitRow = (
    what: string,
    id: string,
    matches: (row: NonNullable<Awaited<ReturnType<typeof getRow>>>) => boolean,
  ) =>
    waitUntil(
      what,
      async () => {
        const found = await getRow(id)
        return found && matches(found) ? found : undefined
      },
      60_000,
    )
  const getRow = row
  const isRunning = ({ state }: { state: ContainerState }) => state === ContainerState.RUNNING
  const get = (name: string, kind: 'Deployment' | 'Service' | 'Secret' | 'PersistentVolumeClaim' = 'Deployment') =>
    testCluster.cluster.get({ kind, namespace, name })
  async function readTexts(id: string, request: Partial<LogRequest> = {}): Promise<string[]> {
    const texts: string[] = []
    for await (const lines of view.readLog(id, { take: 100, follow: false, ...request }))
      texts.push(...lines.map(({ text }) => text))
    return texts
  }
  function followLog(id: string): { texts: string[]; stop: () => Promise<void> } {
    const controller = new AbortController()
    const texts: string[] = []
    const following = (async () => {
      for await (const lines of view.readLog(id, { take: 100, follow: true, signal: controller.signal }))
        texts.push(...lines.map(({ text }) => text))
    })()
    const stop = () => {
      controller.abort()
      return following
    }
    return { texts, stop }
  }

  test('are stopped and started again with the number of replicas that they had, and deployments still apply', async () => {
    const events: EngineEvent[] = []
    const unsubscribe = view.subscribe((event) => events.push(event))
    const manifest = toWorkload(namespace, 'scaled', printAndWait(['hello']), { replicas: 2 })
    const id = await apply(manifest)
    await awaitRow('both run', id, ({ reason }) => reason === '2 of 2 pods ready')
    await view.operate(id, Operation.STOP)
    await awaitRow('it is stopped', id, ({ state }) => state === ContainerState.EXITED)
    await view.operate(id, Operation.START)
    await awaitRow('both run again', id, ({ reason }) => reason === '2 of 2 pods ready')
    const actions = events.flatMap((event) => (event.kind === 'container' && event.id === id ? [event.action] : []))
    expect(actions[0]).toBe('create')
    expect(actions.filter((action) => action === 'start').length).toBeGreaterThanOrEqual(2)
    unsubscribe()
    const apply2 = async () => {
      const current = await get('scaled')
      if (!current) throw new Error('it is gone')
      return testCluster.cluster.apply(
        toWorkload(namespace, 'scaled', printAndWait(['hello']), { replicas: 1 }),
        current,
      )
    }
    await waitUntil('the next deployment', () =>
      apply2().then(
        () => true,
        () => false,
      ),
    )
    await awaitRow('one runs', id, ({ reason }) => reason === 'Running')
  })

  test('say why they do not run', async () => {
    const [crash, pull, memory, unschedulable] = await Promise.all([
      apply(toWorkload(namespace, 'crash', 'echo attempt; sleep 2; exit 3')),
      apply(toWorkload(namespace, 'pull', 'true', { image: 'localhost/nothing:1' })),
      apply(
        toWorkload(namespace, 'memory', 'x=a; while true; do x=$x$x; done', {
          container: { resources: { limits: { memory: '16Mi' } } },
        }),
      ),
      apply(toWorkload(namespace, 'huge', 'true', { container: { resources: { requests: { memory: '900Gi' } } } })),
    ])
    await waitUntil(
      'the log of the second attempt after that of the first',
      async () => (await readTexts(crash)).filter((text) => text === 'attempt').length === 2,
      40_000,
    )
    const crashed = await awaitRow('the crash loop', crash, ({ reason }) => reason === 'CrashLoopBackOff')
    expect(crashed).toMatchObject({
      state: ContainerState.WAITING,
      exitCode: 3,
      ref: { prefix: namespace, name: 'crash' },
    })
    expect(crashed.restartCount).toBeGreaterThan(0)
    await awaitRow('the image', pull, ({ reason }) => /^(ImagePullBackOff|ErrImagePull)$/.test(reason))
    await awaitRow('the memory', memory, ({ reason }) => reason.includes('OOMKilled'))
    await awaitRow('the place', unschedulable, ({ reason }) => reason === 'Unschedulable')
    for (const id of [crash, pull, memory, unschedulable]) await view.remove(id)
  })

  test('show a job that ended with its exit code, and refuse to operate it', async () => {
    const [good, bad] = await Promise.all([
      apply(toWorkload(namespace, 'good', 'echo done', { kind: 'Job' })),
      apply(toWorkload(namespace, 'bad', 'exit 7', { kind: 'Job' })),
    ])
    const ended = ({ state, reason }: { state: ContainerState; reason: string }) =>
      state === ContainerState.EXITED && /Completed|BackoffLimitExceeded/.test(reason)
    expect(await awaitRow('the good end', good, ended)).toMatchObject({
      reason: 'Completed',
      exitCode: 0,
      isJob: true,
    })
    expect(await awaitRow('the bad end', bad, ended)).toMatchObject({ reason: 'BackoffLimitExceeded', exitCode: 7 })
    expect(await readTexts(good)).toEqual(['done'])
    await expect(view.operate(good, Operation.START)).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('is a job'),
    })
  })

  test('of other owners are shown by namespace and name, and never operated or removed', async () => {
    const id = await apply(toWorkload(namespace, 'foreign', printAndWait(['x']), { labels: { app: 'foreign' } }))
    const found = await awaitRow('the foreign workload', id, isRunning)
    expect(found).toMatchObject({
      ref: { prefix: '', name: `${namespace}/foreign` },
      labels: {},
      imageName: 'localhost/busybox',
      imageTag: '1',
    })
    const before = await get('foreign')
    await expect(view.operate(id, Operation.STOP)).rejects.toMatchObject({ kind: 'refused' })
    await expect(view.remove(id)).rejects.toMatchObject({ kind: 'refused' })
    expect((await get('foreign'))?.generation).toBe(before?.generation)
    // The labels of an owner do not count in another namespace than the prefix.
    const moved = await apply(
      toWorkload(namespace, 'moved', printAndWait(['x']), { labels: { ...toOwnLabels('elsewhere', 'moved') } }),
    )
    await awaitRow('the moved workload', moved, isRunning)
    await expect(view.remove(moved)).rejects.toMatchObject({ kind: 'refused' })
    expect(await view.list({ prefix: 'elsewhere' })).toEqual([])
  })

  test('are shown with the addresses of their ingress, which members cannot set', async () => {
    const annotations = { 'dev.crux.routes': 'https://shop.example.com' }
    const own = await apply(toWorkload(namespace, 'routed', printAndWait(['x']), { annotations }))
    const routed = await awaitRow('the workload', own, ({ labels }) => label.routes in labels)
    expect(routed.labels[label.routes]).toBe('https://shop.example.com')
    const labels = { app: 'elsewhere' }
    const foreign = await apply(toWorkload(namespace, 'elsewhere', printAndWait(['x']), { annotations, labels }))
    expect((await awaitRow('the other one', foreign, () => true)).labels).toEqual({})
  })

  test('are removed with what belongs to them, except their data', async () => {
    const envFrom = [{ secretRef: { name: 'whole' } }, { secretRef: { name: 'other' } }]
    const id = await apply(toWorkload(namespace, 'whole', printAndWait(['x']), { container: { envFrom } }))
    const labels = toOwnLabels(namespace, 'whole')
    const metadata = { name: 'whole', namespace, labels }
    await apply({ apiVersion: 'v1', kind: 'Service', metadata, spec: { ports: [{ port: 80 }] } })
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { A: 'hidden-value' } })
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'other', namespace, labels: { app: 'whole' } } })
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Mi' } } }
    await apply({ apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, spec })
    await waitUntil('it is known', () => row(id))
    await view.remove(id)
    await view.remove(id)
    expect(await row(id)).toBeUndefined()
    expect(await Promise.all([get('whole'), get('whole', 'Service'), get('whole', 'Secret')])).toEqual([
      undefined,
      undefined,
      undefined,
    ])
    expect(await get('other', 'Secret')).toBeDefined()
    expect(await get('whole', 'PersistentVolumeClaim')).toBeDefined()
  })

  test('show neither in their description nor in their log the values of secrets', async () => {
    const annotations = { [label.secretKeys]: 'PASSWORD,TOKEN' }
    const env = [
      { name: 'PASSWORD', value: 'correct-horse' },
      { name: 'COLOUR', value: 'blue' },
    ]
    const metadata = { name: 'sealed', namespace, labels: toOwnLabels(namespace, 'sealed') }
    await apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { TOKEN: 'battery-staple' } })
    const script = printAndWait(['battery-staple', '$PASSWORD', '$COLOUR'])
    const id = await apply(
      toWorkload(namespace, 'sealed', script, {
        annotations,
        env,
        container: { envFrom: [{ secretRef: { name: 'sealed' } }] },
      }),
    )
    await awaitRow('it runs', id, isRunning)
    await waitUntil('its log', async () => (await readTexts(id)).length === 3)
    expect(await readTexts(id)).toEqual(['***', '***', 'blue'])
    const json = await view.inspect(id)
    expect(json).toContain('"blue"')
    expect(json).not.toContain('correct-horse')
    expect(json).not.toContain('managedFields')
    expect(JSON.parse(json)).toMatchObject({
      workload: { apiVersion: 'apps/v1', kind: 'Deployment' },
      pods: [{ apiVersion: 'v1', kind: 'Pod' }],
    })
  })

  test('merge the logs of their pods in the order of time, with the names of the pods', async () => {
    const id = await apply(
      toWorkload(
        namespace,
        'pair',
        'trap "exit 0" TERM; for i in 1 2 3; do echo $HOSTNAME $i; sleep 0.2; done; sleep 1000 & wait',
        { replicas: 2 },
      ),
    )
    await waitUntil('all lines', async () => (await readTexts(id)).length === 6, 30_000)
    const times: bigint[] = []
    for await (const lines of view.readLog(id, { take: undefined, follow: false }))
      for (const { nanos, seconds, text } of lines) {
        times.push(seconds * 1_000_000_000n + BigInt(nanos))
        expect(text).toMatch(/^(pair-\S+) \1 [123]$/)
      }
    expect(times).toHaveLength(6)
    expect(times).toEqual([...times].sort((a, b) => Number(a - b)))
    expect(await readTexts(id, { take: 2 })).toHaveLength(2)
  })

  test('show their pods, and the log of one pod alone, which ends with the pod', async () => {
    const script = `trap 'exit 0' TERM; echo of $HOSTNAME; while true; do sleep 0.1; done`
    const id = await apply(toWorkload(namespace, 'pods', script, { replicas: 2 }))
    const isReady = ({ pods }: { pods: { ready: boolean }[] }) => pods.length === 2 && pods.every(({ ready }) => ready)
    const { podCount, pods } = await awaitRow('both pods', id, isReady)
    expect(podCount).toBe(2)
    expect(pods.map(({ state, reason, restartCount }) => ({ state, reason, restartCount }))).toEqual([
      { state: ContainerState.RUNNING, reason: 'Running', restartCount: 0 },
      { state: ContainerState.RUNNING, reason: 'Running', restartCount: 0 },
    ])
    for (const { machine, name } of pods) {
      expect(machine).not.toBe('')
      await waitUntil('its line', async () => (await readTexts(id, { pod: name })).length > 0)
      expect(await readTexts(id, { pod: name })).toEqual([`of ${name}`])
    }
    await expect(readTexts(id, { pod: 'another' })).rejects.toThrow('There is no pod another any more')
    const [first] = pods
    const followed = readTexts(id, { pod: first?.name, follow: true })
    await testCluster.cluster.delete({ kind: 'Pod', namespace, name: first?.name ?? '' })
    expect(await followed).toEqual([`of ${first?.name}`])
  })

  test('are followed through restarts and replacements of their pods, with no line missing or repeated', async () => {
    const id = await apply(
      toWorkload(
        namespace,
        'followed',
        'trap "exit 0" TERM; echo begin $HOSTNAME; for i in 1 2 3; do echo $i; done; sleep 1000 & wait',
      ),
    )
    await awaitRow('it runs', id, isRunning)
    const { stop, texts } = followLog(id)
    await waitUntil('the first pod', () => texts.length === 4)
    await view.operate(id, Operation.RESTART)
    await waitUntil('the second pod', () => texts.length >= 8, 30_000)
    await view.operate(id, Operation.STOP)
    await awaitRow('it is stopped', id, ({ state }) => state === ContainerState.EXITED)
    await view.operate(id, Operation.START)
    await waitUntil('the third pod', () => texts.length >= 12, 30_000)
    await stop()
    expect(texts.map((text) => text.split(' ')[0])).toEqual([1, 2, 3].flatMap(() => ['begin', '1', '2', '3']))
    expect(new Set(texts.filter((text) => text.startsWith('begin'))).size).toBe(3)
  })

  test('show all of a line of 200 kB, whether it is followed or read at once', async () => {
    const script = `trap 'exit 0' TERM; echo begin; sleep 3; head -c 200000 /dev/zero | tr '\\0' x; echo; echo end; sleep 1000 & wait`
    const id = await apply(toWorkload(namespace, 'long', script))
    await awaitRow('it runs', id, isRunning)
    const { stop, texts: followed } = followLog(id)
    await waitUntil('the end', () => followed.at(-1) === 'end')
    await stop()
    expect(followed.length).toBeGreaterThan(3)
    expect(followed.join('')).toBe(`begin${'x'.repeat(200_000)}end`)
    expect(await readTexts(id)).toEqual(followed)
  })
})
