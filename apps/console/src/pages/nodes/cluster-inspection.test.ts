import { expect, it } from 'vitest'
import { readInspection } from './inspection.ts'

const spec = {
  containers: [
    {
      name: 'web',
      image: 'registry.example.com/web@sha256:aa',
      env: [
        { name: 'PASSWORD', value: '***' },
        { name: 'KEY', valueFrom: { secretKeyRef: { name: 'web-1', key: 'key' } } },
        { name: 'HOST', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
      ],
      envFrom: [{ configMapRef: { name: 'web-2' } }, { secretRef: { name: 'web-3' } }],
      volumeMounts: [
        { name: 'data', mountPath: '/data' },
        { name: 'config', mountPath: '/config', subPath: 'one', readOnly: true },
        { name: 'cache', mountPath: '/cache' },
      ],
    },
  ],
  volumes: [
    { name: 'data', persistentVolumeClaim: { claimName: 'web-data' } },
    { name: 'config', configMap: { name: 'web-4' } },
    { name: 'cache', emptyDir: { medium: 'Memory' } },
  ],
}
const pod = {
  kind: 'Pod',
  metadata: { name: 'web-7-x', namespace: 'shop', uid: 'p1', labels: { app: 'web' } },
  spec,
  status: { podIP: '10.1.0.7', containerStatuses: [{ name: 'web', imageID: 'sha256:bb' }] },
}
const workload = {
  kind: 'Deployment',
  metadata: {
    name: 'web',
    namespace: 'shop',
    uid: 'w1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels: { b: '2', a: '1' },
  },
  spec: { replicas: 2, template: { spec } },
  status: { readyReplicas: 1, conditions: [{ type: 'Available', status: 'False' }] },
}

it('converts a workload of a cluster and its pods to tables', () => {
  const inspection = readInspection(JSON.stringify({ workload, pods: [pod] }))
  expect(inspection).toMatchObject({
    general: [
      { name: 'kind', value: 'Deployment' },
      { name: 'namespace', value: 'shop' },
      { name: 'name', value: 'web' },
      { name: 'id', value: 'w1' },
      { name: 'replicas', value: '1/2' },
      { name: 'image', value: 'registry.example.com/web@sha256:aa' },
      { name: 'hash', value: 'sha256:bb' },
      { name: 'createdAt', value: '2026-01-01T00:00:00Z' },
    ],
    environment: [
      { name: 'HOST', value: '{"fieldRef":{"fieldPath":"status.hostIP"}}' },
      { name: 'KEY', value: 'Secret/web-1/key' },
      { name: 'PASSWORD', value: '***' },
      { name: '*', value: 'ConfigMap/web-2' },
      { name: '*', value: 'Secret/web-3' },
    ],
    labels: [
      { name: 'a', value: '1' },
      { name: 'b', value: '2' },
    ],
    networks: [{ name: 'web-7-x', value: '10.1.0.7' }],
    mounts: [
      { name: '/data', value: 'PersistentVolumeClaim/web-data' },
      { name: '/config', value: 'ConfigMap/web-4: one (read-only)' },
      { name: '/cache', value: 'emptyDir (Memory)' },
    ],
  })
  const rest = inspection?.rest.map(({ name }) => name)
  expect(rest).toContain('workload.status.conditions.0.type')
  expect(rest).not.toContain('workload.metadata.name')
})

it('converts pods whose workload is not that of Crux', () => {
  const inspection = readInspection(JSON.stringify({ pods: [pod] }))
  expect(inspection?.general).toContainEqual({ name: 'name', value: 'web-7-x' })
  expect(inspection?.labels).toEqual([{ name: 'app', value: 'web' }])
})

it('lists a workload without pods, and an answer of another shape by its paths', () => {
  const stopped = { ...workload, spec: { ...workload.spec, replicas: 0 }, status: null }
  expect(readInspection(JSON.stringify({ workload: stopped, pods: [] }))?.general).toContainEqual({
    name: 'replicas',
    value: '0/0',
  })
  expect(readInspection(JSON.stringify({ pods: [{}] }))?.rest).toEqual([])
  expect(readInspection(JSON.stringify({ workload: { kind: 'Other' }, pods: [] }))?.rest).toEqual([
    { name: 'workload.kind', value: 'Other' },
  ])
})
