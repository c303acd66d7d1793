import type { Release } from '@crux/agent-protocol'
import type { Manifest } from '../cluster/cluster.ts'
import type { DesiredWorkload } from './desired-workload.ts'
import { toServicePorts } from './ports.ts'
import { annotated, toBalancerAnnotations, toUserAnnotations, toUserLabels } from './user-rows.ts'
import { ownLabels, toOwnSelector } from './workload.ts'

/** By which other pods of the cluster reach the container. @throws Error with a sentence for users */
export function toService(release: Release, desired: DesiredWorkload): Manifest | undefined {
  const { config, name, namespace } = desired
  const ports = toServicePorts(config)
  const isBalanced = config.useLoadBalancer === true
  if (ports.length === 0) {
    if (isBalanced) throw new Error('useLoadBalancer: a load balancer needs a port; add one')
    return undefined
  }
  // The name of a service is one of DNS as RFC 1035 has it.
  if (!/^[a-z]/.test(name))
    throw new Error(`name: "${name}" has ports, so that it must begin with a letter on a cluster`)
  // Those for the service itself are more specific than those for any load balancer.
  const annotations = {
    ...(isBalanced && toBalancerAnnotations(config)),
    ...toUserAnnotations(config, 'service'),
  }
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: {
      name,
      namespace,
      labels: { ...toUserLabels(config, 'service'), ...ownLabels(release, desired) },
      ...annotated(annotations),
    },
    spec: {
      type: isBalanced ? 'LoadBalancer' : 'ClusterIP',
      // The container sees the addresses of its clients, and no node passes their connections on to another one.
      ...(isBalanced && { externalTrafficPolicy: 'Local' }),
      selector: toOwnSelector(release, desired),
      ports,
    },
  }
}
