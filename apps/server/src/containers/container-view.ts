import {
  type Container as AgentContainer,
  ContainerState,
  type LogLine,
  type PublishedPort,
} from '@crux/agent-protocol'
import type { Container, ContainerState as StateName } from '@crux/contract'

const states: Record<ContainerState, StateName | null> = {
  [ContainerState.UNSPECIFIED]: null,
  [ContainerState.RUNNING]: 'running',
  [ContainerState.WAITING]: 'waiting',
  [ContainerState.EXITED]: 'exited',
  [ContainerState.REMOVED]: 'removed',
}

type Instant = { seconds: bigint; nanos: number }

/** As the wire shows a container. */
export const toContainer = (container: AgentContainer): Container => ({
  id: { prefix: container.ref?.prefix ?? '', name: container.ref?.name ?? '' },
  command: container.command,
  createdAt: isoOf(container.createdAt) ?? new Date(0).toISOString(),
  startedAt: isoOf(container.startedAt),
  state: states[container.state],
  reason: container.reason,
  exitCode: container.exitCode ?? null,
  health: container.health || null,
  restartCount: container.restartCount,
  imageName: container.imageName,
  imageTag: container.imageTag,
  ports: portsOf(container.ports),
  labels: container.labels,
})

/** Engines list a port once per address family. */
function portsOf(ports: PublishedPort[]): Container['ports'] {
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

const isoOf = (at: Instant | undefined): string | null => (at ? new Date(millisecondsOf(at)).toISOString() : null)

export const millisecondsOf = (at: Instant): number => Number(at.seconds) * 1_000 + Math.floor(at.nanos / 1_000_000)

/** A line as `docker logs --timestamps` writes it: RFC 3339 with nanoseconds, a space, the text. */
export function toLogText({ at, text }: LogLine): string {
  if (!at) return text
  const seconds = new Date(Number(at.seconds) * 1_000).toISOString().slice(0, 19)
  return `${seconds}.${String(at.nanos).padStart(9, '0')}Z ${text}`
}
