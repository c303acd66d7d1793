import { ExternalAddressType } from '@crux/agent-protocol'
import { deploymentRights } from '@crux/rules'
import { kubernetesMissing } from '@crux/test-kit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { pause } from '../src/concurrency/pause.ts'
import type { EngineEvent } from '../src/engines/engine.ts'
import { openCluster } from '../src/engines/kubernetes/client/open-cluster.ts'
import { createWorkloadView, type WorkloadView } from '../src/engines/kubernetes/workloads/workload-view.ts'
import { openTestCluster, silent, type TestCluster, toOwnLabels, toWorkload } from './kit/cluster.ts'
import { createAccount } from './kit/cluster-accounts.ts'
import { waitUntil } from './kit/wait-until.ts'

const missing = kubernetesMissing()
const { INGRESS, LOAD_BALANCER } = ExternalAddressType

describe.skipIf(missing)('the addresses of a workload', () => {
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

  /** No pods: they are about something else. */
  const addWorkload = async (name: string) =>
    (await testCluster.cluster.create(toWorkload(namespace, name, 'exit 0', { replicas: 0 }))).uid
  const addService = (name: string, { labels = toOwnLabels(namespace, name), type = 'LoadBalancer' } = {}) =>
    testCluster.cluster.create({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name, namespace, labels },
      spec: { type, ports: [{ port: 80 }], selector: { app: name } },
    })
  const addIngress = (name: string, labels = toOwnLabels(namespace, name)) =>
    testCluster.cluster.create({
      apiVersion: 'networking.k8s.io/v1',
      kind: 'Ingress',
      metadata: { name, namespace, labels },
      spec: { defaultBackend: { service: { name, port: { number: 80 } } } },
    })
  const paths = {
    Service: (name: string) => `/api/v1/namespaces/${namespace}/services/${name}`,
    Ingress: (name: string) => `/apis/networking.k8s.io/v1/namespaces/${namespace}/ingresses/${name}`,
  }
  /** What a controller of the cluster writes. */
  const give = (kind: keyof typeof paths, name: string, ingress: { ip?: string; hostname?: string }[]) =>
    testCluster.admin.json({
      method: 'PATCH',
      path: `${paths[kind](name)}/status`,
      contentType: 'application/merge-patch+json',
      body: { status: { loadBalancer: { ingress: ingress.length > 0 ? ingress : null } } },
    })
  const list = async (id: string, of = view) =>
    (await of.view([id]))[0]?.externalAddresses.map(({ addresses, type }) => ({ type, addresses }))
  const awaitAddresses = async (id: string, expected: unknown) => {
    const wanted = JSON.stringify(expected)
    await waitUntil(`addresses ${wanted}`, async () => JSON.stringify(await list(id)) === wanted)
  }

  test('are none until the cluster gives one, then that one, none again, and nothing without a load balancer', async () => {
    const id = await addWorkload('balanced')
    await awaitAddresses(id, [])
    const events: EngineEvent[] = []
    const stop = view.subscribe((event) => events.push(event))
    await addService('balanced')
    await awaitAddresses(id, [{ type: LOAD_BALANCER, addresses: [] }])
    await give('Service', 'balanced', [{ ip: '203.0.113.7' }, { hostname: 'lb-1.example.com' }])
    await awaitAddresses(id, [{ type: LOAD_BALANCER, addresses: ['203.0.113.7', 'lb-1.example.com'] }])
    await give('Service', 'balanced', [])
    await awaitAddresses(id, [{ type: LOAD_BALANCER, addresses: [] }])
    await testCluster.cluster.delete({ kind: 'Service', namespace, name: 'balanced' })
    await awaitAddresses(id, [])
    const updates = events.filter((event) => event.kind === 'container' && event.id === id)
    expect(updates.map((event) => event.kind === 'container' && event.action)).toEqual(Array(4).fill('update'))
    stop()
  })

  test('are those of its ingress too, and of a load balancer that was there before the workload', async () => {
    await addService('both')
    await give('Service', 'both', [{ ip: '203.0.113.8' }])
    await addIngress('both')
    await give('Ingress', 'both', [{ hostname: 'ingress.example.com' }])
    const id = await addWorkload('both')
    await awaitAddresses(id, [
      { type: LOAD_BALANCER, addresses: ['203.0.113.8'] },
      { type: INGRESS, addresses: ['ingress.example.com'] },
    ])
    // A view that begins later finds the same.
    const later = createWorkloadView(testCluster.cluster, silent)
    await waitUntil('they are found', async () => (await list(id, later))?.length === 2)
    expect(await list(id, later)).toEqual(await list(id))
    later.close()
  })

  test('are no longer those of a Service that became one of the cluster alone', async () => {
    const id = await addWorkload('inner')
    await addService('inner')
    await awaitAddresses(id, [{ type: LOAD_BALANCER, addresses: [] }])
    await testCluster.admin.json({
      method: 'PATCH',
      path: paths.Service('inner'),
      contentType: 'application/merge-patch+json',
      body: { spec: { type: 'ClusterIP' } },
    })
    await awaitAddresses(id, [])
  })

  test('are never those of an object of somebody else, whatever its name is', async () => {
    const id = await addWorkload('mine')
    await addService('mine', { labels: {} })
    await addIngress('mine', { ...toOwnLabels(namespace, 'mine'), 'dev.crux.project': 'another-project' })
    await give('Ingress', 'mine', [{ hostname: 'evil.example.com' }])
    const marker = await addWorkload('marker')
    await addIngress('marker')
    await awaitAddresses(marker, [{ type: INGRESS, addresses: [] }])
    expect(await list(id)).toEqual([])
  })

  test('are at most ten', async () => {
    const id = await addWorkload('many')
    await addService('many')
    await give(
      'Service',
      'many',
      Array.from({ length: 30 }, (_, index) => ({ ip: `203.0.113.${index}` })),
    )
    await waitUntil('they are known', async () => (await list(id))?.[0]?.addresses.length === 10)
  })

  test('are not shown by an agent without the right to watch them, which shows all else, and appear with the right', async () => {
    const id = await addWorkload('unseen')
    await addService('unseen')
    await addIngress('unseen')
    const account = await testCluster.createNamespace()
    const earlier = deploymentRights.map((right) =>
      right.resources.some((resource) => ['services', 'ingresses'].includes(resource))
        ? { ...right, verbs: right.verbs.filter((verb) => verb !== 'watch') }
        : right,
    )
    const { deleteRights, kubeconfig, name } = await createAccount(testCluster, account, { cluster: earlier })
    const cluster = await openCluster({ kubeconfig, log: silent })
    const limited = createWorkloadView(cluster, silent)
    try {
      await waitUntil('the workload', async () => (await list(id, limited)) !== undefined)
      // It may list them, and what it listed once may have changed since. The first attempt is repeated after a second.
      for (const until = Date.now() + 2_500; Date.now() < until; await pause(20, new AbortController().signal))
        expect(await list(id, limited)).toEqual([])
      await testCluster.admin.json({
        method: 'PATCH',
        path: `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`,
        contentType: 'application/merge-patch+json',
        body: {
          rules: deploymentRights.map(({ apiGroup, resources, verbs }) => ({
            apiGroups: [apiGroup],
            resources,
            verbs,
          })),
        },
      })
      await waitUntil('the addresses', async () => (await list(id, limited))?.length === 2, 30_000)
    } finally {
      limited.close()
      cluster.close()
      await deleteRights()
    }
  })
})
