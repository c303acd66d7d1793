import {
  type Container as AgentContainer,
  type Pod as AgentPod,
  ContainerState,
  type ExternalAddresses,
  ExternalAddressType,
  type LogLine,
  type PublishedPort,
} from '@crux/agent-protocol'
import type { Container, Pod, ContainerState as StateName, TeamRole } from '@crux/contract'
import { visibilityFor } from '@crux/rules'

const states: Record<ContainerState, StateName | null> = {
  [ContainerState.UNSPECIFIED]: null,
  [ContainerState.RUNNING]: 'running',
  [ContainerState.WAITING]: 'waiting',
  [ContainerState.EXITED]: 'exited',
  [ContainerState.REMOVED]: 'removed',
}

type Instant = { seconds: bigint; nanos: number }

/** A container as each kind of list shows it. */
export type ContainerView = {
  owned: boolean
  /** For lists of the whole node: the id has no prefix and the full name. */
  ofNode: Container
  /** For lists of its prefix, which contain only the team's own: the id has the prefix and the short name. */
  ofPrefix: Container | undefined
}

export function toContainerView(container: AgentContainer): ContainerView {
  const ref = { prefix: container.ref?.prefix ?? '', name: container.ref?.name ?? '' }
  if (!container.owned) return { owned: false, ofNode: toOutline(container), ofPrefix: undefined }
  const shown = toContainer(container, ref)
  const name = ref.prefix === '' ? ref.name : `${ref.prefix}-${ref.name}`
  return {
    owned: true,
    ofNode: { ...shown, id: { prefix: '', name } },
    ofPrefix: ref.prefix === '' ? undefined : { ...shown, id: ref },
  }
}

/** The container as users with the role see it in the list of the whole node, or of one prefix. */
export function visibleContainer(view: ContainerView, role: TeamRole, prefix: string): Container | undefined {
  if (visibilityFor(role, view) === 'hidden') return undefined
  if (prefix === '') return view.ofNode
  return view.ofPrefix?.id.prefix === prefix ? view.ofPrefix : undefined
}

/** Only name, image and state, whatever else the agent sends. */
function toOutline(container: AgentContainer): Container {
  return {
    id: { prefix: '', name: container.ref?.name ?? '' },
    command: '',
    createdAt: new Date(0).toISOString(),
    state: states[container.state],
    reason: container.engineState || (states[container.state] ?? ''),
    imageName: container.imageName,
    imageTag: container.imageTag,
    ports: [],
    labels: {},
  }
}

function toContainer(container: AgentContainer, managed: { prefix: string; name: string }): Container {
  return {
    id: managed,
    managed,
    command: container.command,
    createdAt: toIsoText(container.createdAt) ?? new Date(0).toISOString(),
    startedAt: toIsoText(container.startedAt),
    state: states[container.state],
    // An agent that does not know the engine's name of the state sends none; then ours is used.
    reason: container.engineState || (states[container.state] ?? ''),
    status: container.reason,
    exitCode: container.exitCode ?? null,
    health: container.health || null,
    restartCount: container.restartCount,
    imageName: container.imageName,
    imageTag: container.imageTag,
    ports: toPorts(container.ports),
    labels: container.labels,
    ...(container.externalAddresses.length > 0 && {
      externalAddresses: container.externalAddresses.flatMap(toExternalAddresses),
    }),
    ...(container.isJob && { isJob: true }),
    ...(container.podCount > 0 && { pods: { total: container.podCount, items: container.pods.map(toPod) } }),
  }
}

const addressTypes = {
  [ExternalAddressType.LOAD_BALANCER]: 'load-balancer',
  [ExternalAddressType.INGRESS]: 'ingress',
} as const

/** A later agent may know further types. */
const toExternalAddresses = ({ addresses, type }: ExternalAddresses) =>
  type === ExternalAddressType.UNSPECIFIED ? [] : [{ type: addressTypes[type], addresses }]

const toPod = (pod: AgentPod): Pod => ({
  name: pod.name,
  state: states[pod.state],
  reason: pod.reason,
  ready: pod.ready,
  exitCode: pod.exitCode ?? null,
  restartCount: pod.restartCount,
  machine: pod.machine,
  createdAt: toIsoText(pod.createdAt) ?? new Date(0).toISOString(),
})

/** Engines list a port once per address family. */
function toPorts(ports: PublishedPort[]): Container['ports'] {
  const seen = new Map<string, Container['ports'][number]>()
  for (const { internal, external, protocol } of ports) {
    seen.set(`${internal} ${external} ${protocol}`, {
      internal,
      external: external || null,
      ...(protocol && { protocol }),
    })
  }
  return [...seen.values()]
}

const toIsoText = (at: Instant | undefined): string | null => (at ? new Date(toMilliseconds(at)).toISOString() : null)

export const toMilliseconds = (at: Instant): number => Number(at.seconds) * 1_000 + Math.floor(at.nanos / 1_000_000)

/** A line as `docker logs --timestamps` writes it: RFC 3339 with nanoseconds, a space, the text. */
export function toLogText({ at, text }: LogLine): string {
  if (!at) return text
  if (at.seconds !== lastSecond.at) {
    lastSecond = { at: at.seconds, text: new Date(Number(at.seconds) * 1_000).toISOString().slice(0, 19) }
  }
  return `${lastSecond.text}.${String(at.nanos).padStart(9, '0')}Z ${text}`
}

/** Thousands of lines share a second, and formatting it costs more than the rest of a line. */
let lastSecond: { at: bigint | undefined; text: string } = { at: undefined, text: '' }
