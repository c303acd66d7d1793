import { createServer, type ServerResponse } from 'node:http'
import { toOwnLabels } from './cluster.ts'

const podsPerDeployment = 5
/** About what a pod of a cluster with a few mutating webhooks has. */
const ballast = 'x'.repeat(6_000)
const started = '2026-01-01T00:00:00Z'

type Row = Record<string, unknown>

const toMeta = (name: string, more: Row = {}) => ({
  name,
  namespace: 'big',
  uid: `uid-${name}`,
  resourceVersion: '10',
  creationTimestamp: started,
  managedFields: [{ manager: 'kubelet', fieldsV1: { ballast } }],
  ...more,
})
const owned = (kind: string, name: string) => ({ ownerReferences: [{ kind, name, uid: `uid-${name}` }] })
const toTemplate = () => ({
  spec: { containers: [{ name: 'web', image: 'registry.example.com/web:1', env: [{ name: 'A', value: ballast }] }] },
})

export const toSimulatedDeployment = (index: number) => ({
  metadata: toMeta(`d${index}`, { labels: toOwnLabels('big', `d${index}`) }),
  spec: { replicas: podsPerDeployment, template: toTemplate() },
})
const toReplicaSet = (index: number) => ({
  metadata: toMeta(`d${index}-r`, owned('Deployment', `d${index}`)),
  spec: { template: toTemplate() },
})
export const toSimulatedPod = (index: number) => ({
  metadata: toMeta(`p${index}`, owned('ReplicaSet', `d${Math.floor(index / podsPerDeployment)}-r`)),
  spec: toTemplate().spec,
  status: {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
    containerStatuses: [{ name: 'web', ready: true, restartCount: 1, state: { running: { startedAt: started } } }],
  },
})

/** The parts of the API of Kubernetes that a client needs to list and watch, with five pods in each Deployment. */
export async function startSimulatedApi({
  pods,
  version = { major: '1', minor: '34', gitVersion: 'v1.34.4' },
}: {
  pods: number
  version?: { major: string; minor: string; gitVersion: string }
}) {
  const deployments = pods / podsPerDeployment
  const collections: Record<string, { count: number; toItem: (index: number) => Row }> = {
    '/api/v1/pods': { count: pods, toItem: toSimulatedPod },
    '/apis/apps/v1/deployments': { count: deployments, toItem: toSimulatedDeployment },
    '/apis/apps/v1/replicasets': { count: deployments, toItem: toReplicaSet },
    '/apis/batch/v1/jobs': { count: 0, toItem: () => ({}) },
  }
  const watches = new Map<string, Set<ServerResponse>>()
  const lists: string[] = []
  let expired = 0
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api')
    const answer = (body: unknown, code = 200) => response.writeHead(code).end(JSON.stringify(body))
    const collection = collections[pathname]
    if (pathname === '/version') return answer(version)
    if (!collection) return answer({ reason: 'NotFound', code: 404 }, 404)
    if (searchParams.has('watch')) {
      response.writeHead(200)
      response.flushHeaders()
      watches.set(pathname, (watches.get(pathname) ?? new Set()).add(response))
      return
    }
    const limit = Number(searchParams.get('limit') ?? collection.count)
    const from = Number(searchParams.get('continue') ?? 0)
    if (limit > 1) lists.push(`${pathname} ${from}`)
    if (from > 0 && expired > 0) {
      expired -= 1
      return answer({ reason: 'Expired', code: 410 }, 410)
    }
    const end = Math.min(collection.count, from + limit)
    const items = Array.from({ length: end - from }, (_, index) => collection.toItem(from + index))
    answer({ metadata: { resourceVersion: '100', ...(end < collection.count && { continue: String(end) }) }, items })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    server: `http://127.0.0.1:${port}`,
    deployments,
    lists,
    expireNextPage: () => {
      expired += 1
    },
    send(path: string, event: unknown) {
      for (const response of watches.get(path) ?? []) response.write(`${JSON.stringify(event)}\n`)
    },
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
