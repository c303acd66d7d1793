import { randomUUID } from 'node:crypto'
import type { RefusedRow } from './row.ts'

const volumes = [{ name: 'data', path: '/data' }]
const ports = [{ internal: 8080 }]

/** What a cluster cannot have, or Crux does not do there yet. */
export const refusedRows: readonly RefusedRow[] = [
  {
    says: 'configContainer with a volume that is attached for reading alone',
    config: {
      volumes: [{ ...volumes[0], name: 'data', path: '/data', type: 'ro' }],
      configContainer: { image: 'app:1', volume: 'data', path: '/etc' },
    },
    reason: /^configContainer.volume: The volume data has the type ro/,
  },
  {
    says: 'storage with a volume that is attached for reading alone',
    config: {
      volumes: [{ ...volumes[0], name: 'data', path: '/data', type: 'ro' }],
      storage: { storageId: randomUUID(), bucket: 'assets', path: 'data' },
    },
    reason: /^storage.path: The volume data has the type ro/,
  },
  {
    says: 'deploymentStrategy rolling where files are copied into a claim',
    config: {
      volumes: [{ ...volumes[0], name: 'data', path: '/data', type: 'rwx' }],
      configContainer: { image: 'app:1', volume: 'data', path: '/etc' },
      deploymentStrategy: 'rolling',
    },
    reason: /^deploymentStrategy: Files are copied into the volume data/,
  },
  {
    says: 'expectedState waiting',
    config: { expectedState: { state: 'waiting' } },
    reason: /^expectedState.state: A cluster has no containers that wait/,
  },
  {
    says: 'expose where the node has no ingress class',
    config: { expose: 'expose', ports },
    cluster: { ingressClass: '' },
    reason: /^expose: The node has no ingress class/,
  },
  {
    says: 'expose without a port',
    config: { expose: 'expose' },
    reason: /^routing.port: the container has no TCP port/,
  },
  {
    says: 'routing to a port that the container does not have',
    config: { expose: 'expose', ports, routing: { port: 81 } },
    reason: /^routing.port: the port 81 is none of the container's TCP ports/,
  },
  {
    says: 'options of nginx with another ingress class',
    config: { expose: 'expose', ports, proxyHeaders: true, routing: { domain: 'a.example.com' } },
    cluster: { ingressClass: 'traefik' },
    reason: /^proxyHeaders: It needs the ingress class nginx, and the node has traefik/,
  },
  {
    says: 'several replicas of a container whose volume has one writer',
    config: { volumes, replicas: 2 },
    reason: /^replicas: The volume data may be written by one pod only/,
  },
  {
    says: 'deploymentStrategy rolling of a container whose volume has one writer',
    config: { volumes, deploymentStrategy: 'rolling' },
    reason: /^deploymentStrategy: The volume data may be written by one pod only/,
  },
  {
    says: 'useLoadBalancer without a port',
    config: { useLoadBalancer: true },
    reason: /^useLoadBalancer: a load balancer needs a port/,
  },
  {
    says: 'metrics at a port that the container does not have',
    config: { ports, metrics: { enabled: true, port: 9_090 } },
    reason: /^metrics.port: the port 9090 is none of the container's TCP ports/,
  },
  {
    says: 'labels that name an owner',
    config: { labels: { deployment: [{ key: 'dev.crux.team', value: 'other' }] } },
    reason: /^labels.deployment: /,
  },
  {
    says: 'probes without a port',
    config: { healthCheckConfig: { readinessProbe: '/' } },
    reason: /^healthCheckConfig: a probe needs a port/,
  },
]
