import { constants, existsSync } from 'node:fs'
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import { errorCode } from '@crux/service-kit'

/** Linux only; Node has no name for it. Opens a directory to access its entries, even if it may not be listed. */
const openPathOnly = 0o10000000
const walkFlags = openPathOnly | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Opens a directory to read, change or list it, and refuses a link. */
export const directoryFlags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether entries can be accessed through an open directory here; without that, another process could replace any part of a path. */
export const canWalk = process.platform === 'linux' && existsSync('/proc/self/fd')

/** The path of an entry through the open directory, even if the directory was moved: Linux resolves it from the handle. */
export function toEntryPath(directory: FileHandle, name: string): string {
  return `/proc/self/fd/${directory.fd}/${name}`
}

/** Whether a part of a path names anything but an entry of its directory. */
export function leadsAway(part: string): boolean {
  return part === '' || part === '.' || part === '..' || part.includes('/') || part.includes('\0')
}

/**
 * Opens a directory below an open one. Each component is opened by the handle of its parent and none may be a link, so that a path that is
 * replaced in the meantime leads nowhere else.
 *
 * @param options.createMode creates missing directories with these permissions
 * @param options.check called with each component when it is open, and its position; throws to end the walk
 * @returns a handle to access entries by; to read or change the directory itself, open `toEntryPath(handle, '.')`
 * @throws a system error: ENOTDIR for a link or a file, ENOENT
 */
export async function openBeneath(
  root: FileHandle,
  path: readonly string[],
  options: { createMode?: number; check?: (directory: FileHandle, index: number) => Promise<void> } = {},
): Promise<{ directory: FileHandle; created: boolean }> {
  const escaping = path.find(leadsAway)
  if (escaping !== undefined || path.length === 0)
    throw new Error(`"${path.join('/')}" is not a path below a directory`)
  let directory = root
  let created = false
  try {
    for (const [index, name] of path.entries()) {
      const entered = await enter(directory, name, options.createMode)
      if (directory !== root) await directory.close()
      directory = entered.directory
      created = entered.created
      await options.check?.(directory, index)
    }
    return { directory, created }
  } catch (error) {
    if (directory !== root) await directory.close()
    throw error
  }
}

async function enter(
  parent: FileHandle,
  name: string,
  createMode: number | undefined,
): Promise<{ directory: FileHandle; created: boolean }> {
  const path = toEntryPath(parent, name)
  try {
    return { directory: await open(path, walkFlags), created: false }
  } catch (error) {
    if (createMode === undefined || errorCode(error) !== 'ENOENT') throw error
  }
  let created = true
  await mkdir(path, createMode).catch((error: unknown) => {
    if (errorCode(error) !== 'EEXIST') throw error
    created = false
  })
  return { directory: await open(path, walkFlags), created }
}
