import type { ContainerConfigFields } from '@crux/contract'
import { canonicalJson } from './canonical-json.ts'
import type { HostDanger } from './config-problem.ts'
import { valueAt } from './json-record.ts'
import { networkDangers } from './networks.ts'
import { bytesOfQuantity } from './quantity.ts'
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
    value === 'add' && !grantedCapabilities.has(capabilityName(key))
      ? [{ property: `capabilities[${index}].key`, value: key, reason: capabilityReason(key) }]
      : [],
  )
}

const capabilityReason = (key: string) => `The capability ${capabilityName(key)} gives power over the node itself`

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

export const capabilityName = (key: string): string => key.toUpperCase().replace(/^CAP_/, '')

/** The property without positions, and its row, which is compared as a whole. */
function identity(config: ContainerConfigFields, { property }: HostDanger): string {
  return `${property.replaceAll(/\[\d+\]/g, '')} ${canonicalJson(getDangerousRow(config, property))}`
}

/** The outermost list row on the path to a property; without a list, the whole setting. */
function getDangerousRow(config: ContainerConfigFields, property: string): unknown {
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

/** Limits that, when raised, take resources of the node that the container's own limits do not count (setrlimit(2)). */
const dangerousUlimits: Readonly<Record<string, string>> = {
  rtprio: 'With real-time priority a process stops everything else on its core',
  nice: 'With a raised priority a process goes before everything else on the node',
  memlock: 'Locked memory is taken from the node for good: it can neither be swapped nor reclaimed',
  sigpending: "Queued signals lie in the kernel's own memory, which older kernels count for no container",
}

/** The size of a memory volume without a configured size; the same as the default of the engine for /dev/shm. */
export const memoryVolumeDefaultBytes = 64 * 1024 ** 2
/** The total size that the memory volumes and /dev/shm of a container may have without a memory limit. */
const unlimitedMemoryBytesMax = 1024 ** 3

function ulimitDangers({ ulimits }: ContainerConfigFields): HostDanger[] {
  return (ulimits ?? []).flatMap(({ key }, index) => {
    const reason = Object.hasOwn(dangerousUlimits, key) ? dangerousUlimits[key] : undefined
    return reason ? [{ property: `ulimits[${index}].key`, value: key, reason }] : []
  })
}

/**
 * Files in memory belong to no process: when a node runs out of memory, the kernel kills other processes and frees nothing. With a memory limit of
 * the container they count against that limit.
 */
function memoryDangers({ volumes, shmSize, resourceConfig }: ContainerConfigFields): HostDanger[] {
  if (resourceConfig?.limits?.memory) return []
  const inMemory = (volumes ?? []).flatMap(({ type, size }, index) =>
    type === 'mem' || type === 'tmp'
      ? [{ property: `volumes[${index}].size`, bytes: size ? countBytes(size) : memoryVolumeDefaultBytes, value: size }]
      : [],
  )
  const shared = shmSize ? [{ property: 'shmSize', bytes: countBytes(shmSize), value: shmSize }] : []
  const all = [...inMemory, ...shared]
  if (all.reduce((sum, { bytes }) => sum + bytes, 0) <= unlimitedMemoryBytesMax) return []
  return all.map(({ property, value }) => ({
    property,
    value: value ?? '',
    reason: "Files in memory of more than 1Gi can take all of the node's memory: set a memory limit beside them",
  }))
}

const countBytes = (text: string) => bytesOfQuantity(text) ?? Number.POSITIVE_INFINITY

/** These drivers write only files of their own on the node, or nothing, and open no connection. */
const harmlessDrivers: ReadonlySet<string> = new Set(['nodeDefault', 'json-file', 'local', 'none'])

/** The engine renames log files one by one at each rotation. */
const rotatedFilesMax = 100
const bufferBytesMax = 16 * 1024 ** 2

const anything = () => true
/**
 * Options that contain neither an address nor a path, with the values that cost the engine nothing. Every other option is dangerous until it is
 * listed here, for any driver: the engine runs drivers as root, in the network of the node.
 */
const harmlessOptions: ReadonlyMap<string, (value: string) => boolean> = new Map([
  ['max-size', anything],
  ['max-file', (value) => /^\s*\d+\s*$/.test(value) && Number(value) <= rotatedFilesMax],
  ['compress', anything],
  ['labels', anything],
  ['labels-regex', anything],
  ['env', anything],
  ['env-regex', anything],
  ['tag', isPlainTag],
  ['mode', anything],
  ['max-buffer-size', (value) => (bytesOfLogSize(value) ?? Number.POSITIVE_INFINITY) <= bufferBytesMax],
  ['cache-disabled', anything],
  ['cache-max-size', anything],
  ['cache-max-file', (value) => /^\s*\d+\s*$/.test(value) && Number(value) <= rotatedFilesMax],
  ['cache-compress', anything],
])

/** Log options with which the engine would act on the node with rights that the container does not have. */
function logDangers({ logConfig }: ContainerConfigFields): HostDanger[] {
  if (!logConfig) return []
  const found: HostDanger[] = []
  const { driver } = logConfig
  if (driver && !harmlessDrivers.has(driver))
    found.push({
      property: 'logConfig.driver',
      value: driver,
      reason: `The engine runs the log driver ${driver} as root in the network of the node, and reaches what a container does not`,
    })
  logConfig.options?.forEach(({ key, value }, index) => {
    const isHarmless = harmlessOptions.get(key.trim())
    if (!isHarmless)
      found.push({
        property: `logConfig.options[${index}].key`,
        value: key,
        reason: `The engine follows the log option ${key} as root of the node: it may name an address or a file there`,
      })
    else if (!isHarmless(value))
      found.push({ property: `logConfig.options[${index}].value`, value, reason: costlyReasons[key.trim()] ?? '' })
  })
  return found
}

const costlyReasons: Readonly<Record<string, string>> = {
  tag: 'The engine runs this tag as a template in its own process: only {{.ID}}, {{.Name}} and their like cost it nothing',
  'max-file': `The engine renames every log file at each rotation: more than ${rotatedFilesMax} keep it busy`,
  'cache-max-file': `The engine renames every log file at each rotation: more than ${rotatedFilesMax} keep it busy`,
  'max-buffer-size': 'The engine keeps this buffer in its own memory, outside the limits of the container',
}

/** Only text and names are allowed: functions of a template, such as `pad`, can use any amount of the engine's memory. */
function isPlainTag(value: string): boolean {
  return !value
    .replaceAll(/\{\{\s*\.(ID|FullID|Name|ImageID|ImageFullID|ImageName|DaemonName)\s*\}\}/g, '')
    .includes('{{')
}

/** Parses sizes like the engine: `10m` and `10 MiB` are binary. */
function bytesOfLogSize(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s?([kmgtp]?)i?b?$/i.exec(text.trim())
  if (!match) return undefined
  return Number(match[1]) * 1024 ** ' kmgtp'.indexOf(match[2]?.toLowerCase() || ' ')
}
