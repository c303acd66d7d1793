import { expect } from 'vitest'
import { getPath, toLabels } from '../kit/cluster-objects.ts'
import { type FieldRow, getSpec, type RowKit } from './row.ts'

const nginx = 'nginx.ingress.kubernetes.io'
const ports = [{ internal: 8080, external: 80 }]

/** Fields that only a cluster applies. */
export function kubernetesRows(kit: RowKit): FieldRow[] {
  return [...rolloutRows(), ...ingressRows(kit), ...markerRows(kit), ...balancerRows(), metricsRow]
}

function rolloutRows(): FieldRow[] {
  return [
    {
      says: 'deploymentStrategy rolling',
      config: { deploymentStrategy: 'rolling', volumes: [] },
      check: ({ workload }) =>
        expect(getPath(workload, 'spec', 'strategy')).toEqual({
          type: 'RollingUpdate',
          rollingUpdate: { maxSurge: '25%', maxUnavailable: 0 },
        }),
    },
    {
      says: 'deploymentStrategy recreate',
      config: { deploymentStrategy: 'recreate' },
      check: ({ workload }) => expect(getPath(workload, 'spec', 'strategy')).toEqual({ type: 'Recreate' }),
    },
    {
      says: 'deploymentStrategy of a container whose volume has one writer: recreate',
      config: { deploymentStrategy: null, volumes: [{ name: 'data', path: '/data', size: '1Mi' }] },
      check: ({ workload }) => expect(getPath(workload, 'spec', 'strategy')).toEqual({ type: 'Recreate' }),
    },
    {
      says: 'replicas',
      config: { replicas: 3, volumes: [] },
      check({ pods, workload }) {
        expect(getPath(workload, 'status', 'availableReplicas')).toBe(3)
        expect(pods).toHaveLength(3)
      },
    },
    {
      says: 'replicas 0, which is a container that is stopped',
      config: { replicas: 0 },
      alone: true,
      check({ pods, workload }) {
        expect(getPath(workload, 'spec', 'replicas')).toBe(0)
        expect(pods).toEqual([])
      },
    },
  ]
}

function ingressRows({ host }: RowKit): FieldRow[] {
  const exposed = (name: string) => ({ ports, expose: 'expose' as const, routing: { domain: `${name}.${host}` } })
  return [
    {
      says: 'customHeaders',
      config: { ...exposed('headers'), annotations: null, customHeaders: [{ key: 'X-Colour' }, { key: 'X-Real-IP' }] },
      check: ({ ingress }) =>
        expect(ingress?.annotations).toEqual({
          [`${nginx}/enable-cors`]: 'true',
          [`${nginx}/cors-allow-headers`]: 'X-Colour, X-Real-IP',
        }),
    },
    {
      says: 'proxyHeaders beside customHeaders, each header once',
      config: { ...exposed('proxy'), annotations: null, customHeaders: [{ key: 'X-Real-IP' }], proxyHeaders: true },
      check: ({ ingress }) =>
        expect(ingress?.annotations).toEqual({
          [`${nginx}/enable-cors`]: 'true',
          [`${nginx}/cors-allow-headers`]:
            'X-Real-IP, X-Forwarded-For, X-Forwarded-Host, X-Forwarded-Server, X-Requested-With',
          [`${nginx}/proxy-buffering`]: 'on',
          [`${nginx}/proxy-buffer-size`]: '256k',
        }),
    },
  ]
}

function markerRows({ host }: RowKit): FieldRow[] {
  const exposed = { ports, expose: 'expose' as const }
  const rows = (section: string) => [
    { key: 'colour', value: `${section}-blue` },
    { key: 'removed', value: null },
  ]
  const sections = { deployment: rows('deployment'), service: rows('service'), ingress: rows('ingress') }
  return [
    {
      says: 'labels of Deployment and pods, Service and Ingress, beside ours',
      config: { ...exposed, routing: { domain: `labels.${host}` }, labels: sections },
      check({ agent, ingress, name, pods, service, workload }) {
        const own = { 'dev.crux.team': agent.owner.teamId, 'dev.crux.name': name }
        const at = [workload, pods[0], service, ingress].map(toLabels)
        expect(at).toMatchObject(
          ['deployment', 'deployment', 'service', 'ingress'].map((section) => ({ colour: `${section}-blue`, ...own })),
        )
        expect(at.filter((labels) => 'removed' in labels)).toEqual([])
      },
    },
    {
      says: 'annotations of Deployment and pods, Service and Ingress',
      config: {
        ...exposed,
        routing: { domain: `annotations.${host}` },
        annotations: {
          ...sections,
          ingress: [...rows('ingress'), { key: `${nginx}/proxy-read-timeout`, value: '7' }],
        },
      },
      check({ ingress, pods, service, workload }) {
        const at = [workload, pods[0], service, ingress].map((object) => object?.annotations ?? {})
        expect(at).toMatchObject(
          ['deployment', 'deployment', 'service', 'ingress'].map((section) => ({ colour: `${section}-blue` })),
        )
        expect(at[3]).toMatchObject({ [`${nginx}/proxy-read-timeout`]: '7' })
        expect(at.filter((annotations) => 'removed' in annotations)).toEqual([])
      },
    },
    {
      says: 'fields of Docker, which are said and not dropped in silence',
      config: { shmSize: '8Mi', stopSignal: 'SIGQUIT', restartPolicy: 'always' },
      check: ({ reported }) =>
        expect(reported.filter((line) => line.endsWith('is for Docker nodes and does nothing here'))).toHaveLength(3),
    },
  ]
}

function balancerRows(): FieldRow[] {
  const extraLBAnnotations = [{ key: 'example.com/tier', value: 'internal' }]
  return [
    {
      says: 'useLoadBalancer with extraLBAnnotations, of which those of the service itself are stronger',
      config: {
        ports,
        useLoadBalancer: true,
        extraLBAnnotations: [...extraLBAnnotations, { key: 'both', value: 'weaker' }],
        annotations: { service: [{ key: 'both', value: 'stronger' }] },
      },
      check({ service }) {
        expect(getSpec(service)).toMatchObject({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' })
        expect(service?.annotations).toEqual({ 'example.com/tier': 'internal', both: 'stronger' })
      },
    },
    {
      says: 'extraLBAnnotations without a load balancer, which nothing has',
      config: { ports, useLoadBalancer: false, extraLBAnnotations, annotations: null },
      check({ reported, service }) {
        expect(getSpec(service)).toMatchObject({ type: 'ClusterIP' })
        expect(service?.annotations).toEqual({})
        expect(reported.filter((line) => line.startsWith('extraLBAnnotations: '))).toHaveLength(1)
      },
    },
  ]
}

const metricsRow: FieldRow = {
  says: 'metrics: a ServiceMonitor, or a warning that the cluster has no operator that reads one',
  config: { ports, metrics: { enabled: true, path: '/numbers', port: 8080 } },
  async check({ agent, name, reported, workload }) {
    const isWarned = reported.some((line) => line.startsWith('metrics: the cluster has no operator of Prometheus'))
    if (isWarned) return
    // Another test installs the kind for a while: the cluster may have it, and lose it again.
    const ref = { kind: 'ServiceMonitor', namespace: workload.namespace, name } as const
    expect(getSpec(await agent.cluster.get(ref))).toMatchObject({ endpoints: [{ port: 'tcp-80', path: '/numbers' }] })
  },
}
