import { constants } from 'node:fs'
import { chmod, chown, type FileHandle, lstat, mkdir, open, readdir, stat } from 'node:fs/promises'
import { join, posix } from 'node:path'
import { errorCode, type Logger } from '@crux/service-kit'
import { canWalk, openBeneath, toEntryPath } from './directory-walk.ts'
import { normalPath, PathError } from './host-paths.ts'

export interface Volume {
  created: boolean
  /** A path that leads to the open directory, whatever happens to the names of its parents. */
  path: string
  giveTo(user: number): Promise<void>
  close(): Promise<void>
}

/** No prefix can have this name: a prefix is a DNS label. */
export const ownDirectoryName = '.agent'
const volumeDepth = 3
const directoryMode = 0o755
const ownMode = 0o700
const stickyBit = 0o1000
const writableByOthers = 0o022

/**
 * Opens the data directory, creates it where it is missing, and closes it to other users of the machine. Corrects permissions that are too
 * wide.
 *
 * @param options.dataMountPath the same directory as the engine's machine sees it
 */
export async function openDataDirectory(options: {
  dataDir: string
  dataMountPath: string
  log: Logger
}): Promise<DataDirectory> {
  const { dataDir, log } = options
  const mountPath = normalPath(options.dataMountPath)
  if (dataDir === '/' || mountPath === '/') throw new Error('CRUX_DATA_DIR is /: choose a directory of its own')
  await mkdir(dataDir, { recursive: true })
  const root = await open(dataDir, constants.O_RDONLY | constants.O_DIRECTORY)
  const found = await root.stat()
  const owned = found.uid === (process.getuid?.() ?? found.uid)
  // A directory such as /tmp: closing it would take it from all other users.
  const shared = (found.mode & stickyBit) !== 0 && (await readdir(dataDir)).length > 0
  if (owned && !shared) await root.chmod(ownMode)
  else log.warn({ dataDir }, "the data directory is not the agent's alone: no volume can be used until it is")
  // A file system without permissions, such as that of another operating system, has none to check.
  const keepsModes = !owned || shared || ((await root.stat()).mode & 0o777) === ownMode
  await correctModes(root)
  return new DataDirectory({ dataDir, mountPath, root, keepsModes })
}

/**
 * The agent's data directory, held open. Entries below it are never reached by a path that another user could replace: each component is
 * opened without following links, and the directories above a volume must belong to the agent and be writable by no other user.
 */
export class DataDirectory {
  /** Its path as the engine's machine sees it. */
  readonly mountPath: string
  readonly #dataDir: string
  readonly #root: FileHandle
  readonly #keepsModes: boolean
  readonly #held: FileHandle[]

  constructor(opened: { dataDir: string; mountPath: string; root: FileHandle; keepsModes: boolean }) {
    this.mountPath = opened.mountPath
    this.#dataDir = opened.dataDir
    this.#root = opened.root
    this.#keepsModes = opened.keepsModes
    this.#held = [opened.root]
  }

  /** Creates a volume's directory where it is missing, and returns a handle whose operations apply to exactly that directory. */
  async openVolume(relativePath: string): Promise<Volume> {
    const { directory, created } = await this.#walk(relativePath, directoryMode)
    const path = toEntryPath(directory, '.')
    return {
      created,
      path,
      giveTo: (user) => chown(path, user, -1),
      close: () => directory.close(),
    }
  }

  /** Checks a volume's directory and changes nothing. @throws PathError unless it can be used, or created */
  async checkVolume(relativePath: string, { mayBeMissing } = { mayBeMissing: false }): Promise<void> {
    try {
      const { directory } = await this.#walk(relativePath)
      await directory.close()
    } catch (error) {
      if (errorCode(error) !== 'ENOENT') throw error
      if (!mayBeMissing)
        throw new PathError(`the directory ${this.#shown(relativePath.split('/'))} of a volume is missing`, {
          cause: error,
        })
    }
  }

  /** The directory of the agent's own files, or one below it: for the agent alone, 0700, as a path that leads through its handle. */
  async ownDirectory(...below: string[]): Promise<string> {
    const names = [ownDirectoryName, ...below]
    const path = join(this.#dataDir, ...names)
    if (!canWalk) {
      await mkdir(path, { recursive: true, mode: ownMode })
      if (!(await lstat(path)).isDirectory()) throw new Error(`${path} is not a directory`)
      return path
    }
    const { directory } = await openBeneath(this.#root, names, {
      createMode: ownMode,
      check: async (opened, index) => {
        if (!ownedByAgent((await opened.stat()).uid))
          throw new Error(`${this.#shown(names.slice(0, index + 1))} does not belong to the agent's user`)
        await chmod(toEntryPath(opened, '.'), ownMode)
      },
    })
    this.#held.push(directory)
    return toEntryPath(directory, '.').replace(/\/\.$/, '')
  }

  async close(): Promise<void> {
    await Promise.all(this.#held.splice(0).map((handle) => handle.close()))
  }

  #shown(parts: readonly string[]): string {
    return posix.join(this.mountPath, ...parts)
  }

  async #walk(relativePath: string, createMode?: number) {
    const parts = relativePath.split('/')
    if (parts.length !== volumeDepth)
      throw new PathError(`${this.#shown(parts)} is not the directory of a volume: a volume lies in no other directory`)
    await this.#checkRoot()
    let reached = 0
    try {
      return await openBeneath(this.#root, parts, {
        ...(createMode === undefined ? {} : { createMode }),
        check: async (directory, index) => {
          reached = index + 1
          if (index < volumeDepth - 1) await this.#checkParent(directory, this.#shown(parts.slice(0, index + 1)))
        },
      })
    } catch (error) {
      if (!['ENOTDIR', 'ELOOP'].includes(errorCode(error))) throw error
      const path = this.#shown(parts.slice(0, reached + 1))
      throw new PathError(
        `${path} is a link or a file where the directory of a volume must be: remove it, or mount a disk there (mount --bind)`,
        { cause: error },
      )
    }
  }

  async #checkRoot(): Promise<void> {
    if (!canWalk)
      throw new PathError('volumes need an agent on Linux: only there directories are opened without following links')
    const [now, opened] = await Promise.all([stat(this.#dataDir).catch(() => undefined), this.#root.stat()])
    if (now?.ino !== opened.ino || now.dev !== opened.dev)
      throw new PathError(`the data directory ${this.mountPath} was moved or replaced: restart the agent`)
    await this.#checkParent(this.#root, this.mountPath)
  }

  async #checkParent(directory: FileHandle, path: string): Promise<void> {
    const { uid, mode } = await directory.stat()
    if (!ownedByAgent(uid))
      throw new PathError(
        `${path} belongs to user ${uid}, who could exchange the volumes in it: give it back (chown ${process.getuid?.() ?? 0} ${path})`,
      )
    if (this.#keepsModes && (mode & writableByOthers) !== 0)
      throw new PathError(
        `${path} can be written by others, who could exchange the volumes in it: close it (chmod go-w ${path})`,
      )
  }
}

/** Root may replace everything anyway. */
function ownedByAgent(uid: number): boolean {
  return uid === 0 || uid === (process.getuid?.() ?? uid)
}

/** Corrects directories above volumes that an agent with a permissive umask made writable for other users. */
async function correctModes(root: FileHandle): Promise<void> {
  if (!canWalk) return
  const correct = async (parent: FileHandle, depth: number): Promise<void> => {
    for (const entry of await readdir(toEntryPath(parent, '.'), { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name.startsWith('.')) continue
      const opened = await openBeneath(parent, [entry.name]).catch(() => undefined)
      if (!opened) continue
      const { directory } = opened
      try {
        const { uid, mode } = await directory.stat()
        if (uid !== process.getuid?.()) continue
        if ((mode & writableByOthers) !== 0) await chmod(toEntryPath(directory, '.'), mode & 0o7777 & ~writableByOthers)
        if (depth + 1 < volumeDepth - 1) await correct(directory, depth + 1)
      } finally {
        await directory.close()
      }
    }
  }
  await correct(root, 0)
}
