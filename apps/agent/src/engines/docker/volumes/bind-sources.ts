import { type FileHandle, open } from 'node:fs/promises'
import { posix } from 'node:path'
import { errorCode } from '@crux/service-kit'
import type { DataDirectory } from '../../../files/data-directory.ts'
import { directoryFlags, openBeneath } from '../../../files/directory-walk.ts'
import { isInside, normalPath, overlapsOnThisMachine, PathError, resolvePath } from '../../../files/host-paths.ts'

/** Paths of the node that are mounted into containers, or that the agent fills for them. */
export interface BindSources {
  /** @throws PathError for a source that must not be given to the engine: it would follow a link that replaced a volume */
  check(sources: readonly string[]): Promise<void>
  /** Checks the same before anything has changed: missing directories are created later. @returns where the path leads, as far as it exists */
  checkPlanned(source: string): Promise<string>
  /** Opens a directory of the node that is not the agent's; creates it where it is missing. Only where the agent sees the node's paths. */
  openHostDirectory(path: string): Promise<FileHandle>
}

const directoryMode = 0o755

/** @param options.seesHost whether paths of the engine's machine are paths of this process too: not when it runs in a container */
export function createBindSources(data: DataDirectory, options: { seesHost: boolean }): BindSources {
  const { seesHost } = options
  const { mountPath } = data
  const resolve = async (path: string) => (seesHost ? resolvePath(path) : normalPath(path))

  /** @returns where the path leads */
  async function checkHostPath(path: string): Promise<string> {
    const [source, own] = await Promise.all([resolve(path), resolve(mountPath)])
    const overlaps = seesHost
      ? await overlapsOnThisMachine(source, own)
      : source === own || isInside(source, own) || isInside(own, source)
    if (overlaps)
      throw new PathError(
        `${path} of the node overlaps ${mountPath}, where the agent keeps its keys and all volumes: it cannot be mounted`,
      )
    return source
  }

  /** The path of a volume below the data directory, undefined for any other path. */
  function volumeAt(source: string): string | undefined {
    const path = normalPath(source)
    return isInside(path, mountPath) ? posix.relative(mountPath, path) : undefined
  }

  return {
    async check(sources) {
      for (const source of new Set(sources)) {
        const volume = volumeAt(source)
        if (volume === undefined) await checkHostPath(source)
        else await data.checkVolume(volume)
      }
    },
    async checkPlanned(source) {
      const volume = volumeAt(source)
      if (volume === undefined) return checkHostPath(source)
      await data.checkVolume(volume, { mayBeMissing: true })
      return normalPath(source)
    },
    async openHostDirectory(path) {
      const parts = (await checkHostPath(path)).split('/').filter((part) => part !== '')
      const top = await open('/', directoryFlags)
      try {
        return (await openBeneath(top, parts, { createMode: directoryMode })).directory
      } catch (error) {
        if (!['ENOTDIR', 'ELOOP'].includes(errorCode(error))) throw error
        throw new PathError(`${path} of the node is not a directory, or was exchanged meanwhile`, { cause: error })
      } finally {
        await top.close()
      }
    },
  }
}
