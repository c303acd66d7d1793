import type { Container, Pod } from '@crux/contract'
import { type StatusStyle, statusStyle } from '../../components/status-styles.ts'

/** Reasons that a cluster gives for a pod that will not run as it is. */
const failing = /BackOff|^Err|Error|OOMKilled|Unschedulable|Evicted|Invalid|^CreateContainer/

export const isFailingPod = ({ exitCode, reason, state }: Pick<Pod, 'exitCode' | 'reason' | 'state'>): boolean =>
  failing.test(reason) || (state === 'exited' && exitCode != null && exitCode !== 0)

export function podAppearance(pod: Pick<Pod, 'exitCode' | 'ready' | 'reason' | 'state'>): StatusStyle {
  if (isFailingPod(pod)) return statusStyle('container', 'exited')
  if (pod.state === 'running') return statusStyle('container', pod.ready ? 'running' : 'waiting')
  return pod.state === 'exited' ? statusStyle('phase', 'waiting') : statusStyle('container', pod.state ?? 'unknown')
}

/** How many pods are ready, and how many there are. */
export const countPods = ({ items, total }: NonNullable<Container['pods']>): { ready: number; total: number } => ({
  ready: items.filter(({ ready }) => ready).length,
  total,
})
