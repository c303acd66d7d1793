import type { FinalContainerConfig, NodeType } from '@crux/contract'
import type { CurrentContainer } from './deployment-pause.ts'
import { isHostPath } from './host-dangerous.ts'
import { isSameHostPort, publishedPorts } from './host-ports.ts'

export type PublishedPort = { port: number; protocol: 'tcp' | 'udp' }
export type ReplacementWarning = { property: string; description: string }

/** The maximum number of ports that a page lists for a range. */
const portsMax = 100

/**
 * Published ports that do not answer while the container is replaced: those that a current container holds until then. The gate keeps its own ports
 * open.
 */
export function silentPorts(next: CurrentContainer, current: readonly CurrentContainer[]): PublishedPort[] {
  const held = current.flatMap(({ config }) => publishedPorts(config))
  const gated = next.config.portGate?.enabled === true
  const silent = publishedPorts(next.config).filter(
    (port) => !(gated && port.protocol === 'tcp') && held.some((other) => isSameHostPort(other, port)),
  )
  const found = new Map<string, PublishedPort>()
  for (const { from, to, protocol } of silent) {
    for (let port = from; port <= to && found.size < portsMax; port++)
      found.set(`${port}/${protocol}`, { port, protocol: protocol === 'udp' ? 'udp' : 'tcp' })
  }
  return [...found.values()]
}

/**
 * Ports of containers that a start of some instances does not replace: the agent refuses to start another container on them.
 *
 * @param staying the current containers that keep running
 */
export function heldPorts(next: CurrentContainer, staying: readonly CurrentContainer[]): ReplacementWarning[] {
  return publishedPorts(next.config).flatMap((port) => {
    const holder = staying.find(({ config }) => publishedPorts(config).some((other) => isSameHostPort(other, port)))
    if (!holder) return []
    const ports = port.from === port.to ? `Port ${port.from} is` : `One of the ports ${port.from}-${port.to} is`
    return [
      {
        property: port.property,
        description: `${ports} held by ${holder.name}, which is not part of this start: include ${holder.name} too, or the start fails`,
      },
    ]
  })
}

/**
 * Describes the effect on data when a volume is renamed or removed, or its container is renamed: a directory of the node, or a claim of a
 * cluster, is never deleted and never moved.
 *
 * @param old the container that `next` replaces, under any name
 */
export function volumeWarnings(
  { nodeType, prefix }: { nodeType: NodeType; prefix: string },
  next: CurrentContainer,
  old: CurrentContainer,
): ReplacementWarning[] {
  const toPath = (container: string, name: string) => {
    if (nodeType === 'k8s') return `the claim ${container}-${name} of the namespace ${prefix}`
    return isHostPath(name) ? `${name} of the node` : `${prefix}/${container}/${name} of the node's data folder`
  }
  const after = next.config.volumes
  return old.config.volumes.filter(keepsData).flatMap((before): ReplacementWarning[] => {
    const stays = `its data stays in ${toPath(old.name, before.name)}`
    const same = after.findIndex((volume) => volume.name === before.name)
    if (same >= 0 && keepsData(after[same])) {
      if (next.name === old.name || isHostPath(before.name)) return []
      return [
        {
          property: `volumes[${same}].name`,
          description: `${old.name} becomes ${next.name}, and volumes belong to a container's name: ${before.name} starts empty, ${stays}`,
        },
      ]
    }
    const successor = after.findIndex((volume) => volume.path === before.path)
    const { name, type } = after[successor] ?? {}
    if (name === undefined)
      return [{ property: 'volumes', description: `The volume ${before.name} is not mounted any more: ${stays}` }]
    const property = `volumes[${successor}].${name === before.name ? 'type' : 'name'}`
    if (type === 'mem' || type === 'tmp')
      return [
        { property, description: `${before.path} is no longer a volume and is deleted with its container: ${stays}` },
      ]
    const begins = isHostPath(name) ? `shows ${name} of the node` : 'starts empty'
    return [{ property, description: `${before.path} is the volume ${name} now and ${begins}: ${stays}` }]
  })
}

const keepsData = (volume: FinalContainerConfig['volumes'][number] | undefined): boolean =>
  volume !== undefined && volume.type !== 'mem' && volume.type !== 'tmp'
