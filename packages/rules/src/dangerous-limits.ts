import type { ContainerConfigFields } from '@crux/contract'
import type { HostDanger } from './host-danger.ts'
import { bytesOfQuantity } from './quantity.ts'

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
export const unlimitedMemoryBytesMax = 1024 ** 3

export function ulimitDangers({ ulimits }: ContainerConfigFields): HostDanger[] {
  return (ulimits ?? []).flatMap(({ key }, index) => {
    const reason = Object.hasOwn(dangerousUlimits, key) ? dangerousUlimits[key] : undefined
    return reason ? [{ property: `ulimits[${index}].key`, value: key, reason }] : []
  })
}

/**
 * Files in memory belong to no process: when a node runs out of memory, the kernel kills other processes and frees nothing. With a memory limit of
 * the container they count against that limit.
 */
export function memoryDangers({ volumes, shmSize, resourceConfig }: ContainerConfigFields): HostDanger[] {
  if (resourceConfig?.limits?.memory) return []
  const inMemory = (volumes ?? []).flatMap(({ type, size }, index) =>
    type === 'mem' || type === 'tmp'
      ? [{ property: `volumes[${index}].size`, bytes: size ? bytesOf(size) : memoryVolumeDefaultBytes, value: size }]
      : [],
  )
  const shared = shmSize ? [{ property: 'shmSize', bytes: bytesOf(shmSize), value: shmSize }] : []
  const all = [...inMemory, ...shared]
  if (all.reduce((sum, { bytes }) => sum + bytes, 0) <= unlimitedMemoryBytesMax) return []
  return all.map(({ property, value }) => ({
    property,
    value: value ?? '',
    reason: "Files in memory of more than 1Gi can take all of the node's memory: set a memory limit beside them",
  }))
}

const bytesOf = (text: string) => bytesOfQuantity(text) ?? Number.POSITIVE_INFINITY
