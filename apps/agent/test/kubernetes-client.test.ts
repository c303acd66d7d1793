import { setTimeout as pause } from 'node:timers/promises'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { openCluster } from '../src/engines/kubernetes/client/open-cluster.ts'
import type { Cluster, Manifest, WatchEvent } from '../src/engines/kubernetes/cluster/cluster.ts'
import { createWorkloadView } from '../src/engines/kubernetes/workloads/workload-view.ts'
import { openTestCluster, printAndWait, silent, type TestCluster, toWorkload } from './kit/cluster.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()

describe.skipIf(missing)('a cluster', () => {
  let testCluster: TestCluster
  let cluster: Cluster
  let namespace: string
  beforeAll(async () => {
    testCluster = await openTestCluster()
    cluster = testCluster.cluster
    namespace = await testCluster.createNamespace()
  })
  afterAll(() => testCluster?.dispose())

  const configMap = (name: string, data: Record<string, string> = {}): Manifest => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data,
  })
  const ref = (name: string) => ({ kind: 'ConfigMap', namespace, name }) as const
  const getExisting = async (name: string) => {
    const found = await cluster.get(ref(name))
    if (!found) throw new Error(`there is no ${name}`)
    return found
  }
  /** Changes an object as another program would. */
  const patchAs = (manager: string, name: string, body: unknown) =>
    testCluster.admin.json({
      method: 'PATCH',
      path: `/api/v1/namespaces/${namespace}/configmaps/${name}`,
      query: { fieldManager: manager },
      contentType: 'application/merge-patch+json',
      body,
    })
  /** Collects the events of a watch of config maps until the signal aborts. */
  function collect(watched: Cluster, signal: AbortSignal) {
    const events: WatchEvent[] = []
    const ended = (async () => {
      for await (const event of watched.watch('ConfigMap', { namespace, labels: { watched: undefined } }, signal))
        events.push(event)
    })()
    const names = () =>
      events.flatMap((event) => (event.type === 'relist' ? [] : [`${event.type} ${event.object.name}`]))
    return {
      ended,
      events,
      names,
      count: (type: WatchEvent['type']) => events.filter((one) => one.type === type).length,
    }
  }
  const createWatched = (name: string) =>
    cluster.create({ ...configMap(name), metadata: { name, namespace, labels: { watched: 'yes' } } })

  test('creates only what does not exist, and says so', async () => {
    await cluster.create(configMap('once'))
    await expect(cluster.create(configMap('once'))).rejects.toMatchObject({
      kind: 'conflict',
      message: 'The ConfigMap once exists already',
    })
  })

  test('removes by an apply what the creation had set, and keeps what others set', async () => {
    await cluster.create(configMap('owned', { ours: '1', dropped: '1' }))
    await patchAs('somebody', 'owned', { data: { theirs: '1' } })
    const known = await cluster.getOwned(ref('owned'))
    expect(known?.manifest).toMatchObject({ data: { ours: '1', dropped: '1' } })
    await cluster.apply(configMap('owned', { ours: '2' }), await getExisting('owned'))
    expect((await getExisting('owned')).fields.data).toEqual({ ours: '2', theirs: '1' })
  })

  test('changes what an interrupted creation left, also when the same was applied since', async () => {
    const { admin } = testCluster
    const path = `/api/v1/namespaces/${namespace}/configmaps`
    const before = configMap('interrupted', { kept: '1', dropped: '1' })
    await admin.json({ method: 'POST', path, query: { fieldManager: 'crux' }, body: before })
    await cluster.apply(before, await getExisting('interrupted'))
    await cluster.apply(configMap('interrupted', { kept: '2' }), await getExisting('interrupted'))
    expect((await getExisting('interrupted')).fields.data).toEqual({ kept: '2' })
    const known = await cluster.getOwned(ref('interrupted'))
    expect(known?.manifest).toMatchObject({ data: { kept: '2' } })
  })

  test('names the field and the manager when another program manages a field', async () => {
    await cluster.create(configMap('shared', { colour: 'blue' }))
    await patchAs('painter', 'shared', { data: { colour: 'red' } })
    await expect(
      cluster.apply(configMap('shared', { colour: 'green' }), await getExisting('shared')),
    ).rejects.toMatchObject({
      kind: 'conflict',
      message: expect.stringMatching(/another program manages: \.data\.colour \(painter\)/),
    })
    expect((await getExisting('shared')).fields.data).toEqual({ colour: 'red' })
  })

  test('changes nothing that was changed or replaced since it was read', async () => {
    const first = await cluster.create(configMap('moved', { a: '1' }))
    await patchAs('somebody', 'moved', { data: { b: '1' } })
    await expect(cluster.apply(configMap('moved', { a: '2' }), first)).rejects.toMatchObject({ kind: 'conflict' })
    await cluster.delete(ref('moved'), { uid: first.uid })
    await expect(cluster.apply(configMap('moved', { a: '2' }), first)).rejects.toMatchObject({ kind: 'conflict' })
    const second = await cluster.create(configMap('moved', { a: '3' }))
    const stale = { uid: first.uid, resourceVersion: second.resourceVersion }
    await expect(cluster.apply(configMap('moved', { a: '2' }), stale)).rejects.toMatchObject({ kind: 'conflict' })
    await cluster.delete(ref('moved'), { uid: first.uid })
    expect((await getExisting('moved')).uid).toBe(second.uid)
  })

  test('names the field that it does not accept, and never the value of a secret', async () => {
    const service = { apiVersion: 'v1', kind: 'Service' as const, metadata: { name: 'bad', namespace } }
    await expect(cluster.create({ ...service, spec: { ports: [{ port: 99_999_999 }] } })).rejects.toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('spec.ports[0].port'),
    })
    await expect(cluster.create({ ...service, spec: { prots: [] } })).rejects.toMatchObject({
      message: expect.stringContaining('unknown field "spec.prots"'),
    })
    const secret = { apiVersion: 'v1', kind: 'Secret' as const, metadata: { name: 'bad', namespace } }
    const refused = cluster.create({
      ...secret,
      type: 'kubernetes.io/dockerconfigjson',
      stringData: { '.dockerconfigjson': 'hunter2' },
    })
    await expect(refused).rejects.toMatchObject({ kind: 'refused', message: expect.not.stringContaining('hunter2') })
  })

  test('repeats the words of a quota', async () => {
    const limited = await testCluster.createNamespace()
    await testCluster.admin.json({
      method: 'POST',
      path: `/api/v1/namespaces/${limited}/resourcequotas`,
      body: { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'none' }, spec: { hard: { services: '0' } } },
    })
    const service = {
      apiVersion: 'v1',
      kind: 'Service' as const,
      metadata: { name: 'web', namespace: limited },
      spec: { ports: [{ port: 80 }] },
    }
    await waitUntil('the quota counts', () =>
      cluster.create(service).then(
        () => cluster.delete({ kind: 'Service', namespace: limited, name: 'web' }).then(() => false),
        ({ message }: Error) => message.includes('exceeded quota: none'),
      ),
    )
  })

  test('names the verb and the resource of a missing right, and no credential', async () => {
    const { admin } = testCluster
    const inNamespace = (group: string, resource: string) => `${group}/namespaces/${namespace}/${resource}`
    const post = (path: string, body: unknown) => admin.json({ method: 'POST', path, body })
    const rbac = '/apis/rbac.authorization.k8s.io/v1'
    const metadata = { name: 'reduced' }
    await post(inNamespace('/api/v1', 'serviceaccounts'), { metadata })
    await post(inNamespace(rbac, 'roles'), {
      metadata,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }],
    })
    await post(inNamespace(rbac, 'rolebindings'), {
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reduced' },
      subjects: [{ kind: 'ServiceAccount', name: 'reduced', namespace }],
    })
    const token = z
      .object({ status: z.object({ token: z.string() }) })
      .parse(await post(inNamespace('/api/v1', 'serviceaccounts/reduced/token'), { spec: {} })).status.token
    const reduced = await testCluster.openWithToken(token)
    try {
      expect(await reduced.get(ref('nobody'))).toBeUndefined()
      const attempts = [
        [() => reduced.create(configMap('x')), /no right to create configmaps in the namespace \S+: .*verb "create"/],
        [() => reduced.list('Deployment', {}), /no right to list deployments in the whole cluster: .*API group apps/],
        [() => reduced.delete({ kind: 'Secret', namespace, name: 'x' }), /no right to delete secrets/],
      ] as const
      for (const [attempt, message] of attempts) {
        const error = await attempt().then(
          () => undefined,
          (reason: unknown) => reason,
        )
        expect(error).toMatchObject({ kind: 'refused', message: expect.stringMatching(message) })
        expect(String(error)).not.toContain(token)
      }
      // It may not list nodes, which it needs for nothing but a description.
      expect(await reduced.describe()).toMatchObject({
        operatingSystem: 'linux',
        architecture: expect.stringMatching(/^(amd|arm)64$/),
      })
      const view = createWorkloadView(reduced, silent)
      await expect(view.list({})).rejects.toMatchObject({
        kind: 'refused',
        message: expect.stringContaining('no right to list'),
      })
      view.close()
    } finally {
      reduced.close()
    }
  })

  test('continues a watch where it was when its connection was cut, without listing again', async () => {
    const proxy = await testCluster.openProxy()
    const through = await openCluster({ kubeconfig: proxy.kubeconfig, log: silent })
    const controller = new AbortController()
    const { count, ended, names } = collect(through, controller.signal)
    await waitUntil('the start', () => count('relist') === 1)
    await createWatched('before')
    await waitUntil('the change before', () => names().includes('changed before'))
    await proxy.cut()
    await expect(through.list('ConfigMap', { namespace })).rejects.toMatchObject({
      kind: 'unavailable',
      message: 'The Kubernetes API server does not answer (ECONNREFUSED)',
    })
    await createWatched('meanwhile')
    await cluster.delete(ref('before'))
    await proxy.heal()
    await waitUntil('what happened meanwhile', () => names().includes('deleted before'))
    expect(names()).toContain('changed meanwhile')
    expect(count('relist')).toBe(1)
    controller.abort()
    await ended
    through.close()
    await proxy.cut()
  })

  test('notices an API server that is silent while its connections stay open', async () => {
    const proxy = await testCluster.openProxy()
    const options = { probeEveryMs: 200, probeAnswerMs: 500 }
    const through = await openCluster({ kubeconfig: proxy.kubeconfig, log: silent, ...options })
    const controller = new AbortController()
    const { count, ended, names } = collect(through, controller.signal)
    await waitUntil('the start', () => count('relist') === 1)
    await createWatched('heard')
    await waitUntil('the change', () => names().includes('changed heard'))
    proxy.silence()
    await createWatched('unheard')
    await expect(through.assertAvailable()).rejects.toMatchObject({ kind: 'unavailable' })
    // The watch is asked for again in the silence.
    await pause(2_000)
    // Connections that were open stay as silent as they are: only new ones work.
    proxy.endSilence()
    await waitUntil('the change in the silence', () => names().includes('changed unheard'))
    controller.abort()
    await ended
    through.close()
    await proxy.cut()
  })

  test('keeps the log of a workload going when its connection was cut', async () => {
    const proxy = await testCluster.openProxy()
    const through = await openCluster({ kubeconfig: proxy.kubeconfig, log: silent })
    const view = createWorkloadView(through, silent)
    await view.list({})
    const script = printAndWait(['begin']).replace('sleep 0.1', 'i=$((i+1)); echo $i; sleep 0.1')
    const { uid } = await cluster.create(toWorkload(namespace, 'counting', script))
    await waitUntil('it runs', async () => (await view.view([uid])).some(({ reason }) => reason === 'Running'))
    const controller = new AbortController()
    const texts: string[] = []
    const following = (async () => {
      for await (const lines of view.readLog(uid, { take: 1_000, follow: true, signal: controller.signal }))
        texts.push(...lines.map(({ text }) => text))
    })()
    await waitUntil('some lines', () => texts.length > 5)
    await proxy.cut()
    await expect(view.list({})).rejects.toMatchObject({ kind: 'unavailable' })
    const seen = texts.length
    await proxy.heal()
    await waitUntil('more lines', () => texts.length > seen + 20)
    controller.abort()
    await following
    expect(texts).toEqual(['begin', ...texts.slice(1).map((_, index) => String(index + 1))])
    view.close()
    through.close()
    await proxy.cut()
  })
})
