import type { ContainerConfigFields } from '@crux/contract'
import { networkDangers } from './networks.ts'
import { labelDangers } from './reserved-labels.ts'

export type HostDanger = { property: string; value: string; reason: string }

/** What Docker gives every container anyway; adding it again grants nothing. */
const grantedCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'NET_RAW',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])
const engineSockets = [
  '/var/run/docker.sock',
  '/run/docker.sock',
  '/run/containerd/containerd.sock',
  '/run/podman/podman.sock',
]

/**
 * Settings that reach out of the container into its host (security.md 16): off for role `user`, judged where they are written
 * and again over the whole merged configuration at the start (decision 16).
 */
export function hostDangers(config: ContainerConfigFields): HostDanger[] {
  const dangers: HostDanger[] = []
  if (config.networkMode === 'host')
    dangers.push({
      property: 'networkMode',
      value: 'host',
      reason: "The host network reaches every service that listens on the node's loopback",
    })
  config.volumes?.forEach((volume, index) => {
    if (!isHostPath(volume.name)) return
    dangers.push({ property: `volumes[${index}].name`, value: volume.name, reason: hostPathReason(volume.name) })
  })
  config.capabilities?.forEach((capability, index) => {
    if (capability.value !== 'add' || !isDangerousCapability(capability.key)) return
    dangers.push({
      property: `capabilities[${index}].key`,
      value: capability.key,
      reason: `The capability ${capabilityName(capability.key)} gives power over the node itself`,
    })
  })
  dangers.push(...networkDangers(config))
  dangers.push(...labelDangers(config))
  return dangers
}

/** Those of `after` that `before` did not have: what this change, and whoever makes it, is answerable for. */
export function addedHostDangers(before: ContainerConfigFields, after: ContainerConfigFields): HostDanger[] {
  const known = new Set(hostDangers(before).map(identity))
  return hostDangers(after).filter((danger) => !known.has(identity(danger)))
}

/** A volume whose name is an absolute path binds a folder of the node, outside the agent's data folder (agents.md A7.5). */
export const isHostPath = (volumeName: string): boolean => /^([a-zA-Z]:)?[/\\]/.test(volumeName)

export const isDangerousCapability = (key: string): boolean => !grantedCapabilities.has(capabilityName(key))

export const capabilityName = (key: string): string => key.toUpperCase().replace(/^CAP_/, '')

const identity = (danger: HostDanger) => `${danger.property.replace(/\[\d+\]/, '')}=${danger.value}`

function hostPathReason(path: string): string {
  const plain = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
  if (engineSockets.some((socket) => socket === plain || socket.startsWith(`${plain === '/' ? '' : plain}/`)))
    return "It holds the engine's socket: whoever reaches it is root on the node"
  return 'It binds a folder of the node outside the data folder of Crux'
}
