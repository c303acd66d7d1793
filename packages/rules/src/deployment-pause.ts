import type { FinalContainerConfig } from '@crux/contract'
import { sameValue } from './config-parts.ts'
import { hasHealthTest } from './health-check.ts'
import { isHostPath } from './host-dangerous.ts'
import { isSameHostPort, publishedPorts } from './host-ports.ts'
import { isInside } from './volume-name.ts'

export type ImageMetadata = {
  /** Paths that the image declares with VOLUME; undefined = unknown. */
  declaredVolumes?: readonly string[]
  /** Whether the image has a Docker HEALTHCHECK; undefined = unknown. */
  hasHealthCheck?: boolean
}
export type CurrentContainer = { name: string; config: FinalContainerConfig; image?: ImageMetadata }

/**
 * The reason why the old container must stop before the new one starts, as a text for the page; undefined when both can run at once without downtime
 * (docs/decisions.md#two-containers-at-once).
 *
 * @param prefix that of the deployment; relative volumes are directories of one container under this prefix
 * @param next the container to start
 * @param current all containers that currently run under the prefix; the container that `next` replaces has its name
 */
export function pauseReason(
  prefix: string,
  next: CurrentContainer,
  current: readonly CurrentContainer[],
): string | undefined {
  const old = current.find((container) => container.name === next.name)
  if (next.config.networkMode === 'host' && old)
    return 'It uses the host network, where only one of both can have its ports'
  for (const port of publishedPorts(next.config)) {
    const holder = current.find(({ config }) => publishedPorts(config).some((other) => isSameHostPort(other, port)))
    // The gate switches its ports from one container to the next, so both may run.
    if (!holder || (isGated(next.config, port) && isGated(holder.config, port))) continue
    if (holder.name !== next.name) return `${holder.name} publishes port ${portText(port)} until now`
    return isGated(next.config, port) === isGated(holder.config, port)
      ? `Only one container at a time can publish port ${portText(port)}`
      : `Port ${portText(port)} passes ${isGated(next.config, port) ? 'to the gate, once' : 'from the gate to the engine'}`
  }
  if (!old) return undefined
  if (old.config.networkMode === 'host') return 'The old one uses the host network'
  const shared = sharedVolume(prefix, next, old)
  if (shared) return `Both would write to ${shared} at the same time`
  const mounted = new Set(next.config.volumes.map((volume) => volume.path))
  const undeclared = next.image?.declaredVolumes?.find((path) => !mounted.has(path))
  if (undeclared)
    return `The image keeps data in ${undeclared}, which no volume here mounts: the new one finds it empty`
  if ((old.config.expose ?? 'none') === 'none') return undefined
  if (!sameRoute(old.config, next.config)) return 'Its route through the proxy changes'
  if (hasHealthTest(old.config.healthCheckConfig, old.image ?? {})) return undefined
  if (old.config.healthCheckConfig?.test === 'none')
    return 'The proxy routes to it and its health check is switched off'
  return old.image?.hasHealthCheck === false
    ? 'The proxy routes to it and its image has no health check'
    : 'The proxy routes to it, and without a health check in its image it could answer twice'
}

/** Whether the gate of the node holds the port instead of the engine: TCP only. */
const isGated = (config: FinalContainerConfig, { protocol }: { protocol: string }) =>
  config.portGate?.enabled === true && protocol === 'tcp'

/** The directory of the node that both mount and the new one may write. */
function sharedVolume(prefix: string, next: CurrentContainer, old: CurrentContainer): string | undefined {
  const filled = filledVolumes(next.config)
  const writable = next.config.volumes.filter(
    ({ name, type }) => type !== 'mem' && type !== 'tmp' && (type !== 'ro' || filled.has(name)),
  )
  const theirs = old.config.volumes.filter(({ type }) => type !== 'mem' && type !== 'tmp')
  const toPath = (container: string, name: string) =>
    (isHostPath(name) ? name : `\0data/${prefix}/${container}/${name}`).replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
  for (const mine of writable) {
    const path = toPath(next.name, mine.name)
    if (theirs.some((other) => overlapping(path, toPath(old.name, other.name)))) return mine.name
  }
  return undefined
}

/** Volumes that are written before the container starts, including those that it mounts read-only. */
function filledVolumes({ configContainer, storage, initContainers }: FinalContainerConfig): Set<string | undefined> {
  return new Set([
    configContainer?.volume,
    ...(storage?.storageId ? [storage.path ?? undefined] : []),
    ...(initContainers ?? []).flatMap(({ volumes }) => (volumes ?? []).map(({ name }) => name)),
  ])
}

const overlapping = (left: string, right: string) => left === right || isInside(left, right) || isInside(right, left)

const sameRoute = (old: FinalContainerConfig, next: FinalContainerConfig) =>
  (old.expose ?? 'none') === (next.expose ?? 'none') && sameValue(old.routing, next.routing)

const portText = ({ from, to, protocol }: { from: number; to: number; protocol: string }) =>
  `${from === to ? from : `${from}-${to}`}${protocol === 'tcp' ? '' : `/${protocol}`}`
