import { isEveryAddress } from '@crux/rules'
import type { ContainerSpec, ObservedContainer, PublishedPort } from '../containers/container-engine.ts'
import { pathsOverlap } from './mounts.ts'

export interface NextContainer {
  spec: Pick<ContainerSpec, 'published' | 'gated' | 'mounts' | 'networkMode' | 'labels'>
  /** VOLUMEs that the image declares. */
  imageVolumes: readonly string[]
  /** Sources of mounts that the container or its preparations write. */
  written: ReadonlySet<string>
}

/**
 * Returns why the new and the old container of an instance cannot run at once; empty when they can. Both cannot hold the same port of the
 * host, write the same data, or be routed by a proxy that has no health check to choose by.
 */
export function reasonsToPause(next: NextContainer, old: ObservedContainer): string[] {
  const reasons: string[] = []
  const port = contestedPort(next.spec, old)
  if (port) reasons.push(port.why)
  if (next.spec.networkMode === 'host' && old.hostNetwork) reasons.push("both use the host's network")
  const mount = next.spec.mounts.find(
    (candidate) =>
      candidate.kind === 'bind' &&
      next.written.has(candidate.source) &&
      old.mounts.some((used) => pathsOverlap(candidate.source, used.source)),
  )
  if (mount) reasons.push(`both use the volume at ${mount.target}`)
  const uncovered = uncoveredVolumes(next)
  if (uncovered.length > 0)
    reasons.push(`the image keeps data in ${uncovered.join(', ')}, which the configuration does not mount`)
  if (old.labels['traefik.enable'] === 'true') {
    if (old.health === 'none')
      reasons.push('it is routed and has no health check that would keep requests from the new one')
    else if (routing(old.labels) !== routing(next.spec.labels)) reasons.push('its routing changes')
  }
  return reasons
}

/** The first port that only one of both can have. A port that the gate routes to both, one after the other, does not count. */
export function contestedPort(
  next: Pick<ContainerSpec, 'published' | 'gated'>,
  old: Pick<ObservedContainer, 'published' | 'gated'>,
): { hostPort: number; why: string } | undefined {
  const both = sharedPort(next.published, old.published)
  if (both) return { hostPort: both.hostPort, why: `both publish port ${both.hostPort}` }
  const toGate = sharedPort(next.gated, old.published)
  if (toGate) return { hostPort: toGate.hostPort, why: `port ${toGate.hostPort} passes from the engine to the gate` }
  const fromGate = sharedPort(next.published, old.gated)
  return (
    fromGate && { hostPort: fromGate.hostPort, why: `port ${fromGate.hostPort} passes from the gate to the engine` }
  )
}

/** VOLUMEs of the image that no mount of the configuration covers: they are empty in the new container. */
export function uncoveredVolumes(
  next: Pick<NextContainer, 'imageVolumes'> & { spec: Pick<ContainerSpec, 'mounts'> },
): string[] {
  return next.imageVolumes.filter((volume) => !next.spec.mounts.some((mount) => mount.target === volume))
}

/** The first port of the host that both lists contain. */
export function sharedPort<P extends PublishedPort>(
  left: readonly P[],
  right: readonly PublishedPort[],
): P | undefined {
  return left.find((a) => right.some((b) => samePort(a, b)))
}

export function samePort(a: PublishedPort, b: PublishedPort): boolean {
  return (
    a.hostPort === b.hostPort &&
    a.protocol === b.protocol &&
    (isEveryAddress(a.address) || isEveryAddress(b.address) || a.address === b.address)
  )
}

function routing(labels: Record<string, string>): string {
  return Object.entries(labels)
    .filter(([key]) => key.startsWith('traefik.'))
    .map(([key, value]) => `${key}=${value}`)
    .sort()
    .join('\n')
}
