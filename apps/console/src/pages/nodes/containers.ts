import type { Container } from '@crux/contract'
import type { StatusStyle } from '../../components/status-styles.ts'
import { statusStyle } from '../../components/status-styles.ts'
import { isFailingPod } from './pods.ts'

/** The part of a node's containers that a chip shows. */
export type StateFilter = 'all' | 'running' | 'failing' | 'stopped' | 'other'

export function toStateFilter(container: Container, isStoppedByPerson: boolean): Exclude<StateFilter, 'all'> {
  if (isFailing(container) && !isStoppedByPerson) return 'failing'
  if (container.state === 'running') return 'running'
  return container.state === 'exited' ? 'stopped' : 'other'
}

/** The prefix that a container was deployed under; empty for one that Crux did not start. */
export const getPrefix = ({ id, labels }: Container): string => labels['dev.crux.prefix'] ?? id.prefix

/** Whether stopping it affects others: it publishes a port, or a deployment started it. */
export const isStopNoticed = ({ ports, labels }: Container): boolean =>
  ports.some(({ external }) => external) || Boolean(labels['dev.crux.deployment'])

/** A command to a container whose effect is not visible yet. */
export type PendingOperation = {
  operation: 'start' | 'stop' | 'restart' | 'delete'
  /** The start time that was shown when the restart was requested. */
  startedAt: string | null
  askedAt: number
}

/** How long the spinner is shown before the button is enabled again. */
export const operationTimeoutMs = 60_000

export const containerKey = (container: Pick<Container, 'id'>): string => `${container.id.prefix}/${container.id.name}`

/** The name on the engine: with its prefix. */
export const containerName = ({ id }: Pick<Container, 'id'>): string =>
  id.prefix ? `${id.prefix}-${id.name}` : id.name

export const imageText = ({ imageName, imageTag }: Pick<Container, 'imageName' | 'imageTag'>): string =>
  `${imageName}${imageTag ? `:${imageTag}` : ''}`

/** Of another team, of the platform, or not started by Crux: admins and owners see its name, image and state, and no member can operate it. */
export const isForeign = (container: Container): boolean => !container.managed

/** Containers of the platform and parts of a cluster, which are hidden by default. */
export function isInternal(container: Container): boolean {
  const category = container.labels['dev.crux.service-category'] ?? container.labels['org.dyrectorio.service-category']
  return category?.startsWith('_') === true || container.id.prefix === 'kube-system'
}

/** Whether what was asked for has happened; `now` undefined = the container is gone from the list. */
export function isReached(pending: PendingOperation, now: Container | undefined): boolean {
  if (!now) return true
  switch (pending.operation) {
    case 'start':
      return now.state === 'running'
    case 'stop':
      return now.state === 'exited'
    case 'restart':
      return now.state === 'running' && (now.startedAt ?? null) !== pending.startedAt
    case 'delete':
      return false
  }
}

/** A workload of a cluster that shall have no pods. What its last pod ended with says nothing then. */
export const isScaledToZero = ({ pods, state, status }: Container): boolean =>
  pods !== undefined && state === 'exited' && status === 'Stopped'

/** "Exited 137" in red, "Exited 0" in grey: leaving with 0 is mostly on purpose, and so is what a user stopped. */
export function containerAppearance(
  container: Container,
  isStoppedByPerson = false,
): { appearance: StatusStyle; exitCode: number | null } {
  const state = container.state ?? 'unknown'
  if (state !== 'exited')
    return {
      appearance:
        container.health === 'unhealthy' ? statusStyle('container', 'exited') : statusStyle('container', state),
      exitCode: null,
    }
  if (isScaledToZero(container)) return { appearance: statusStyle('phase', 'waiting'), exitCode: null }
  const code = container.exitCode ?? null
  return {
    appearance: code === 0 || isStoppedByPerson ? statusStyle('phase', 'waiting') : statusStyle('container', 'exited'),
    exitCode: code,
  }
}

export const isFailing = (container: Container): boolean =>
  !isScaledToZero(container) &&
  ((container.state === 'exited' && container.exitCode !== 0) ||
    container.health === 'unhealthy' ||
    container.pods?.items.some(isFailingPod) === true)

/**
 * The engine's words where they say more than the state and the number of pods do: "Up 4 minutes" and "Exited (0) ..." do not, and of
 * "1 of 2 pods ready: Unschedulable" the reason does.
 */
export const engineStatusText = ({ status }: Container): string | null =>
  !status || /^(Up|Exited|Created)\b|^(Running|Stopped)$/i.test(status)
    ? null
    : status.replace(/^\d+ of \d+ pods ready(: )?/i, '') || null

/** Whether it has more to show than its state: a health check, restarts, or a status text of the engine. */
export const hasHealth = (container: Container): boolean =>
  (container.health ?? 'none') !== 'none' || Boolean(container.restartCount) || engineStatusText(container) !== null

/** "8080 → 80", "53 → 53/udp"; a port without a host side is inside the network only. */
export const portText = (port: Container['ports'][number]): string => {
  const internal =
    port.protocol && port.protocol !== 'tcp' ? `${port.internal}/${port.protocol}` : String(port.internal)
  return port.external ? `${port.external} → ${internal}` : internal
}
