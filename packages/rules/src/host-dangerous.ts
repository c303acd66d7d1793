import type { ContainerConfigFields } from '@crux/contract'
import { canonicalJson } from './canonical-json.ts'
import { memoryDangers, ulimitDangers } from './dangerous-limits.ts'
import { logDangers } from './dangerous-logs.ts'
import type { HostDanger } from './host-danger.ts'
import { valueAt } from './json-record.ts'
import { networkDangers } from './networks.ts'
import { labelDangers } from './reserved-labels.ts'

/** Docker gives these capabilities to every container, so adding one again grants nothing. */
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
 * Settings that reach out of the container into its host. They are not allowed for the role `user`, and are checked when they are saved, again in the
 * merged configuration at the start, and once more by the agent (docs/decisions.md#options-that-reach-the-host). `option-judgements.ts` lists which
 * options are checked and why every other one is safe.
 */
export function hostDangers(config: ContainerConfigFields): HostDanger[] {
  return [
    ...networkModeDangers(config),
    ...hostPathDangers(config),
    ...capabilityDangers(config),
    ...networkDangers(config),
    ...labelDangers(config),
    ...logDangers(config),
    ...ulimitDangers(config),
    ...memoryDangers(config),
  ]
}

/**
 * The dangers of `after` that `before` did not have. All columns of the row are compared, or the whole setting if it is no list: an approved path
 * that becomes writable is a new danger.
 */
export function addedHostDangers(before: ContainerConfigFields, after: ContainerConfigFields): HostDanger[] {
  const known = new Set(hostDangers(before).map((danger) => identity(before, danger)))
  return hostDangers(after).filter((danger) => !known.has(identity(after, danger)))
}

function networkModeDangers({ networkMode }: ContainerConfigFields): HostDanger[] {
  if (networkMode !== 'host') return []
  const reason = "The host network reaches every service that listens on the node's loopback"
  return [{ property: 'networkMode', value: networkMode, reason }]
}

function capabilityDangers({ capabilities }: ContainerConfigFields): HostDanger[] {
  return (capabilities ?? []).flatMap(({ key, value }, index) =>
    value === 'add' && isDangerousCapability(key)
      ? [
          {
            property: `capabilities[${index}].key`,
            value: key,
            reason: `The capability ${capabilityName(key)} gives power over the node itself`,
          },
        ]
      : [],
  )
}

/** Paths of the node and all init steps that write them, because these also write into volumes that the container mounts read-only. */
function hostPathDangers({ volumes, configContainer, storage, initContainers }: ContainerConfigFields): HostDanger[] {
  const danger = (property: string, path: string | null | undefined, reason: (path: string) => string): HostDanger[] =>
    path && isHostPath(path) ? [{ property, value: path, reason: reason(path) }] : []
  return [
    ...(volumes ?? []).flatMap(({ name }, index) => danger(`volumes[${index}].name`, name, hostPathReason)),
    ...danger('configContainer.volume', configContainer?.volume, filledReason),
    ...danger('storage.path', storage?.storageId ? storage.path : undefined, filledReason),
    ...(initContainers ?? []).flatMap((init, index) =>
      (init.volumes ?? []).flatMap(({ name }, place) =>
        danger(`initContainers[${index}].volumes[${place}].name`, name, filledReason),
      ),
    ),
  ]
}

const filledReason = (path: string) => `It writes into ${path} of the node`

/** A volume whose name is an absolute path binds a directory of the node outside the data directory of the agent. */
export const isHostPath = (volumeName: string): boolean => /^([a-zA-Z]:)?[/\\]/.test(volumeName)

export const isDangerousCapability = (key: string): boolean => !grantedCapabilities.has(capabilityName(key))

export const capabilityName = (key: string): string => key.toUpperCase().replace(/^CAP_/, '')

/** The property without positions, and its row, which is compared as a whole. */
function identity(config: ContainerConfigFields, { property }: HostDanger): string {
  return `${property.replaceAll(/\[\d+\]/g, '')} ${canonicalJson(judgedRow(config, property))}`
}

/** The outermost list row on the path to a property; without a list, the whole setting. */
function judgedRow(config: ContainerConfigFields, property: string): unknown {
  const [, path = property, position] = /^([^[]*)\[(\d+)\]/.exec(property) ?? []
  const [field = '', ...inner] = path.split('.')
  if (position === undefined) return valueAt(config, [field])
  return valueAt(config, [field, ...inner, position])
}

function hostPathReason(path: string): string {
  const plain = path.replace(/\/+/g, '/').replace(/(.)\/$/, '$1')
  if (engineSockets.some((socket) => socket === plain || socket.startsWith(`${plain === '/' ? '' : plain}/`)))
    return "It holds the engine's socket: a process that reaches it is root on the node"
  return 'It binds a folder of the node outside the data folder of Crux'
}
