import { posix } from 'node:path'
import type { FinalContainerConfig } from '@crux/contract'
import { bytesOfQuantity, isPlainPath, memoryVolumeDefaultBytes, volumeNameProblem } from '@crux/rules'
import type { Mount } from '../containers/container-engine.ts'

/** A directory below the agent's data directory that must exist before the container does. */
export interface VolumeDirectory {
  relativePath: string
}

/** A volume of the configuration by its name, with its path. */
export interface VolumeMount {
  mount: Mount
  /** Below the agent's data directory; undefined for memory and for a path of the host. */
  relativePath: string | undefined
}

/**
 * Returns where the container's volumes are: below `{data}/{prefix}/{name}/`, in memory, or, where host-dangerous options are allowed, at
 * an absolute path of the host.
 *
 * @throws Error with a sentence for users
 */
export function toMounts(
  config: FinalContainerConfig,
  target: { prefix: string; dataMountPath: string; hostDangerousAllowed: boolean },
): { mounts: Mount[]; directories: VolumeDirectory[]; volumes: Map<string, VolumeMount> } {
  const volumes = new Map<string, VolumeMount>()
  const directories: VolumeDirectory[] = []
  const add = (name: string, mount: Mount, relativePath?: string) => {
    if (volumes.has(name)) throw new Error(`two volumes are called ${name}`)
    volumes.set(name, { mount, relativePath })
  }
  for (const volume of config.volumes) {
    const type = volume.type ?? 'rwo'
    if (!volume.path.startsWith('/')) throw new Error(`the volume path ${volume.path} is not absolute`)
    const directory = posix.join(target.dataMountPath, target.prefix, config.name)
    refuseName(volume.name, directory)
    if (type === 'mem' || type === 'tmp') {
      // Without a size the kernel would allow half of the node's memory.
      const sizeBytes = (volume.size && bytesOfQuantity(volume.size)) || memoryVolumeDefaultBytes
      add(volume.name, {
        kind: 'memory',
        target: volume.path,
        source: '',
        writable: true,
        sizeBytes,
      })
      continue
    }
    const writable = type !== 'ro'
    if (volume.name.startsWith('/')) {
      if (!target.hostDangerousAllowed) {
        throw new Error(
          `the volume ${volume.name} is a path of the host, which needs an admin's permission for host-dangerous options`,
        )
      }
      add(volume.name, { kind: 'bind', target: volume.path, source: posix.normalize(volume.name), writable })
      continue
    }
    const relativePath = posix.join(target.prefix, config.name, volume.name)
    directories.push({ relativePath })
    const source = posix.join(target.dataMountPath, relativePath)
    add(volume.name, { kind: 'bind', target: volume.path, source, writable }, relativePath)
  }
  return { mounts: [...volumes.values()].map(({ mount }) => mount), directories, volumes }
}

/**
 * Names with a slash used to be allowed, and such a volume came to lie inside another one. A release from that time is refused with the
 * path of its data.
 *
 * @param directory of the instance, as the engine's machine sees it
 */
function refuseName(name: string, directory: string): void {
  const reason = volumeNameProblem(name, {})
  if (!reason) return
  const data = isPlainPath(name)
    ? `. What it held lies in ${directory}/${name} on the node and was not touched: move it to a directory directly in ${directory}, and call the volume like that directory`
    : ''
  throw new Error(`"${name}" is not a name for a volume. ${reason}${data}`)
}

/** Whether one path is, or lies in, the other. */
export function pathsOverlap(left: string, right: string): boolean {
  const a = left === '/' ? '/' : `${posix.normalize(left).replace(/\/$/, '')}/`
  const b = right === '/' ? '/' : `${posix.normalize(right).replace(/\/$/, '')}/`
  return a.startsWith(b) || b.startsWith(a)
}
