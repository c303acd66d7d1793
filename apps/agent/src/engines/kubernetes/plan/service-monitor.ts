import type { Release } from '@crux/agent-protocol'
import type { Manifest } from '../cluster/cluster.ts'
import type { DesiredWorkload } from './desired-workload.ts'
import { findServicePort } from './ports.ts'
import { ownLabels, toOwnSelector } from './workload.ts'

/**
 * Tells the operator of Prometheus where the container's metrics are; undefined also where the cluster has no such operator.
 *
 * @throws Error with a sentence for users
 */
export function toServiceMonitor(release: Release, desired: DesiredWorkload): Manifest | undefined {
  const { config, name, namespace, settings } = desired
  const { metrics } = config
  if (!metrics?.enabled) return undefined
  const port = findServicePort(config, metrics.port, 'metrics.port')
  if (!settings.hasServiceMonitors) return undefined
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'ServiceMonitor',
    metadata: { name, namespace, labels: ownLabels(release, desired) },
    spec: {
      selector: { matchLabels: toOwnSelector(release, desired) },
      endpoints: [{ port: port.name, path: metrics.path || '/metrics' }],
    },
  }
}
