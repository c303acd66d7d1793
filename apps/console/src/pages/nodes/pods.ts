import type { Container, NodeType, Pod } from '@crux/contract'
import { type StatusStyle, statusStyle } from '../../components/status-styles.ts'

/** Reasons that a cluster gives for a pod that will not run as it is. */
const failing = /BackOff|^Err|Error|OOMKilled|Unschedulable|Evicted|Invalid|^CreateContainer/

/** A pod that is being deleted ends with the code of the signal that stopped it. */
export const isFailingPod = ({ exitCode, reason, state }: Pick<Pod, 'exitCode' | 'reason' | 'state'>): boolean =>
  failing.test(reason) || (state === 'exited' && exitCode != null && exitCode !== 0 && reason !== 'Terminating')

export function podAppearance(pod: Pick<Pod, 'exitCode' | 'ready' | 'reason' | 'state'>): StatusStyle {
  if (isFailingPod(pod)) return statusStyle('container', 'exited')
  if (pod.state === 'running') return statusStyle('container', pod.ready ? 'running' : 'waiting')
  return pod.state === 'exited' ? statusStyle('phase', 'waiting') : statusStyle('container', pod.state ?? 'unknown')
}

/** Containers as a node of this type has them: the server sends no pods for a workload of a cluster that has none. */
export const withPods = (containers: readonly Container[], nodeType: NodeType): readonly Container[] =>
  nodeType === 'k8s'
    ? containers.map((one) => (one.managed && !one.pods ? { ...one, pods: { total: 0, items: [] } } : one))
    : containers

/**
 * How many pods a workload has, and how many of them are ready. `ready` is undefined where it says nothing, since no pod shall be ready any
 * more, and where it is not known, since not all pods are listed.
 */
export function countPods({ pods, state }: Pick<Container, 'pods' | 'state'>): { ready?: number; total: number } {
  const { items, total } = pods ?? { items: [], total: 0 }
  if (state === 'exited' || items.length < total || total === 0) return { total }
  return { ready: items.filter(({ ready }) => ready).length, total }
}
