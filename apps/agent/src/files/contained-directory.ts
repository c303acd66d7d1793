import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import {
  type FileHandle,
  link as hardLink,
  lchown,
  lstat,
  mkdir,
  open,
  readdir,
  rename,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { errorCode } from '@crux/service-kit'
import { directoryFlags, leadsAway, toEntryPath } from './directory-walk.ts'

/** Owner and times of a written entry; absent values stay as the system sets them. */
export interface Attributes {
  mode?: number
  owner?: { user: number; group: number }
  modifiedAt?: Date
}

export interface FileMetadata {
  kind: 'file' | 'directory' | 'other'
  size: number
  modifiedAt: Date
}

/** A path in a directory: its parts, none of which leads anywhere else. */
export type InnerPath = readonly string[]

/** Thrown where an entry of another kind has the name. */
export class PathBlockedError extends Error {
  override name = 'PathBlockedError'
}

/**
 * A directory that containers write too, opened so that nothing in it can lead out of it. Every step down opens the next directory by the
 * handle of its parent and follows no link, so that a link that exists, or appears in the meantime, is never followed: Linux resolves
 * `/proc/self/fd/N/name` from the open directory itself.
 *
 * @param options.replace whether an entry of another kind is removed, as a mirror requires
 * @param options.groupWrites gives the group of each entry the rights of its owner, for processes that share a group and not a user
 */
export async function openContainedDirectory(path: string, options: DirectoryOptions): Promise<ContainedDirectory> {
  return new ContainedDirectory(await open(path, directoryFlags), options)
}

interface DirectoryOptions {
  replace: boolean
  groupWrites?: boolean
}

const newFileFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const partial = { start: '.crux-', end: '.part' }

export class ContainedDirectory {
  readonly #root: FileHandle
  readonly #replace: boolean
  readonly #toMode: (mode: number) => number

  constructor(root: FileHandle, { groupWrites = false, replace }: DirectoryOptions) {
    this.#root = root
    this.#replace = replace
    this.#toMode = groupWrites ? (mode) => mode | ((mode & 0o700) >> 3) : (mode) => mode
  }

  async metadata(path: InnerPath): Promise<FileMetadata | undefined> {
    try {
      return await this.#within(path, { create: false }, async (at) => {
        const found = await lstat(at)
        const kind = found.isFile() ? 'file' : found.isDirectory() ? 'directory' : 'other'
        return { kind, size: found.size, modifiedAt: found.mtime }
      })
    } catch (error) {
      if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes(errorCode(error))) return undefined
      throw error
    }
  }

  /** The file is written completely or not at all. */
  writeFile(path: InnerPath, content: AsyncIterable<unknown>, attributes: Attributes): Promise<void> {
    return this.#within(path, { create: true }, async (at, directory) => {
      const temporary = toEntryPath(directory, `${partial.start}${randomBytes(8).toString('hex')}${partial.end}`)
      const file = await open(temporary, newFileFlags, 0o600)
      try {
        try {
          for await (const chunk of content) {
            if (!(chunk instanceof Uint8Array)) throw new TypeError('the content of a file is not bytes')
            await writeAll(file, chunk)
          }
          await this.#apply(file, attributes)
        } finally {
          await file.close()
        }
        await this.#clear(at, directory, path, 'file')
        await rename(temporary, at)
      } catch (error) {
        await unlink(temporary).catch(() => undefined)
        throw error
      }
    })
  }

  makeDirectory(path: InnerPath): Promise<void> {
    if (path.length === 0) return Promise.resolve()
    return this.#within(path, { create: true }, async (at, directory) => {
      await this.#clear(at, directory, path, 'directory')
      await mkdir(at).catch(ignore('EEXIST'))
    })
  }

  /** Sets attributes of a directory after its content is written. */
  async finishDirectory(path: InnerPath, attributes: Attributes): Promise<void> {
    const apply = async (at: string) => {
      const directory = await open(at, directoryFlags)
      try {
        await this.#apply(directory, attributes)
      } finally {
        await directory.close()
      }
    }
    if (path.length === 0) await this.#apply(this.#root, attributes)
    else await this.#within(path, { create: false }, apply)
  }

  /** A symbolic link is only text here: every process resolves it in its own file system, a container inside its own files. */
  makeLink(path: InnerPath, target: string, attributes: Attributes): Promise<void> {
    return this.#within(path, { create: true }, async (at, directory) => {
      await this.#clear(at, directory, path, 'file')
      await unlink(at).catch(ignore('ENOENT'))
      await symlink(target, at)
      if (attributes.owner) await lchown(at, attributes.owner.user, attributes.owner.group)
    })
  }

  /** Another name for a file that was written before. */
  makeHardLink(path: InnerPath, existing: InnerPath): Promise<void> {
    return this.#within(existing, { create: false }, async (from) => {
      if (!(await lstat(from)).isFile()) throw new PathBlockedError(`${existing.join('/')} is not a file`)
      await this.#within(path, { create: true }, async (at, directory) => {
        await this.#clear(at, directory, path, 'file')
        await unlink(at).catch(ignore('ENOENT'))
        await hardLink(from, at)
      })
    })
  }

  /**
   * Removes entries that are not wanted; links themselves, not their targets.
   *
   * @param wanted called with a path joined by slashes; a directory that contains a wanted entry must be wanted too
   * @returns how many files and directories were removed, without those inside of a directory
   */
  removeUnwanted(wanted: (path: string) => boolean): Promise<number> {
    return removeIn(this.#root, '', wanted)
  }

  /** Removes partly written files of a killed process. */
  removePartial(): Promise<number> {
    return this.removeUnwanted((path) => {
      const name = path.slice(path.lastIndexOf('/') + 1)
      return !(name.startsWith(partial.start) && name.endsWith(partial.end))
    })
  }

  close(): Promise<void> {
    return this.#root.close()
  }

  async #apply(file: FileHandle, { mode, owner, modifiedAt }: Attributes): Promise<void> {
    if (owner) await file.chown(owner.user, owner.group)
    if (mode !== undefined) await file.chmod(this.#toMode(mode & permissions))
    if (modifiedAt) await file.utimes(modifiedAt, modifiedAt)
  }

  /** Calls back with the path of the last part, and its open parent directory. */
  async #within<T>(
    path: InnerPath,
    options: { create: boolean },
    work: (at: string, directory: FileHandle) => Promise<T>,
  ): Promise<T> {
    const name = path.at(-1)
    if (name === undefined || path.some(leadsAway))
      throw new PathBlockedError(`"${path.join('/')}" is not a path inside`)
    let directory = this.#root
    try {
      for (const [index, part] of path.slice(0, -1).entries()) {
        const next = await this.#enter(directory, part, path.slice(0, index + 1), options.create)
        if (directory !== this.#root) await directory.close()
        directory = next
      }
      return await work(toEntryPath(directory, name), directory)
    } finally {
      if (directory !== this.#root) await directory.close()
    }
  }

  async #enter(directory: FileHandle, name: string, path: InnerPath, create: boolean): Promise<FileHandle> {
    const at = toEntryPath(directory, name)
    try {
      return await open(at, directoryFlags)
    } catch (error) {
      const code = errorCode(error)
      if (!create || !['ENOENT', 'ENOTDIR', 'ELOOP'].includes(code)) throw error
      if (code !== 'ENOENT') await this.#clear(at, directory, path, 'directory')
      await mkdir(at).catch(ignore('EEXIST'))
      return open(at, directoryFlags)
    }
  }

  /** Removes an entry of another kind. */
  async #clear(at: string, directory: FileHandle, path: InnerPath, wanted: 'file' | 'directory'): Promise<void> {
    const found = await lstat(at).catch(ignore('ENOENT'))
    if (!found) return
    const isDirectory = found.isDirectory()
    if (isDirectory === (wanted === 'directory')) return
    if (!this.#replace)
      throw new PathBlockedError(
        isDirectory
          ? `${path.join('/')} is a directory in the volume`
          : `${path.join('/')} is not a directory in the volume`,
      )
    await removeEntry(directory, path.at(-1) ?? '', isDirectory)
  }
}

async function removeIn(directory: FileHandle, path: string, wanted: (path: string) => boolean): Promise<number> {
  let removed = 0
  for (const entry of await readdir(toEntryPath(directory, '.'), { withFileTypes: true })) {
    const own = path === '' ? entry.name : `${path}/${entry.name}`
    if (!wanted(own)) {
      await removeEntry(directory, entry.name, entry.isDirectory())
      removed += 1
    } else if (entry.isDirectory()) {
      const next = await open(toEntryPath(directory, entry.name), directoryFlags).catch(
        ignore('ENOENT', 'ENOTDIR', 'ELOOP'),
      )
      if (!next) continue
      try {
        removed += await removeIn(next, own, wanted)
      } finally {
        await next.close()
      }
    }
  }
  return removed
}

async function removeEntry(directory: FileHandle, name: string, isDirectory: boolean): Promise<void> {
  const at = toEntryPath(directory, name)
  if (!isDirectory) return void (await unlink(at).catch(ignore('ENOENT')))
  const inner = await open(at, directoryFlags)
  try {
    await removeIn(inner, '', () => false)
  } finally {
    await inner.close()
  }
  await rmdir(at)
}

async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let offset = 0; offset < chunk.length; ) {
    const { bytesWritten } = await file.write(chunk, offset)
    offset += bytesWritten
  }
}

/** Without set-user-id and set-group-id: a file of a volume is accessible on the node, and must give no user there another user's rights. */
const permissions = 0o1777

function ignore(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (!codes.includes(errorCode(error))) throw error
  }
}
