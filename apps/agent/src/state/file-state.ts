import { constants } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { getMessage } from '../errors.ts'
import type { DataDirectory } from '../files/data-directory.ts'
import { readIfThere, removeDurably, writeDurably } from '../files/durable-file.ts'
import type { AgentState, LineLog, LineLogs, Records } from './agent-state.ts'

const suffix = '.jsonl'

/** The agent's state as files of its data directory, for it alone (0600). */
export async function openFileState(data: DataDirectory): Promise<AgentState> {
  return {
    records: openFileRecords(await data.ownDirectory()),
    journals: openFileLogs(await data.ownDirectory('journal')),
  }
}

export function openFileRecords(directory: string): Records {
  const toPath = (name: string) => join(directory, name)
  return {
    read: (name) => readIfThere(toPath(name)),
    write: (name, content) => writeDurably(toPath(name), content),
    remove: (name) => removeDurably(toPath(name)),
  }
}

/** One file per log. */
export function openFileLogs(directory: string): LineLogs {
  const toPath = (name: string) => join(directory, `${name}${suffix}`)
  return {
    async create(name, lines) {
      await mkdir(directory, { recursive: true, mode: 0o700 })
      const file = await open(toPath(name), 'ax', 0o600)
      const log = new FileLog(toPath(name), { file: Promise.resolve(file), size: 0, isTorn: false })
      try {
        await log.append(lines)
      } catch (error) {
        await log.remove()
        throw error
      }
      return log
    },
    async list() {
      const names = await readdir(directory).catch((): string[] => [])
      return names.flatMap((name) => (name.endsWith(suffix) ? [name.slice(0, -suffix.length)] : [])).sort()
    },
    async open(name) {
      const path = toPath(name)
      const content = await readFile(path, { encoding: 'utf8', flag: constants.O_RDONLY | constants.O_NOFOLLOW })
      // A crash may have cut the last line short. Nothing has acted on it, and the next line must not be appended to it.
      const lines = content.slice(0, content.lastIndexOf('\n') + 1)
      const log = new FileLog(path, {
        file: undefined,
        size: Buffer.byteLength(lines),
        isTorn: lines.length < content.length,
      })
      return { log, lines }
    },
    setAside: (name) => rename(toPath(name), `${toPath(name)}.unreadable`),
  }
}

class FileLog implements LineLog {
  readonly #path: string
  /** Opened by the first call that needs it, and once for calls at the same time: a log that cannot be read is opened by none. */
  #file: Promise<FileHandle> | undefined
  /** Bytes of whole lines. */
  #size: number
  /** Whether a part of a line may follow the whole ones. */
  #isTorn: boolean

  constructor(
    path: string,
    { file, isTorn, size }: { file: Promise<FileHandle> | undefined; size: number; isTorn: boolean },
  ) {
    this.#path = path
    this.#file = file
    this.#size = size
    this.#isTorn = isTorn
  }

  async append(lines: string): Promise<void> {
    try {
      const file = await this.#open()
      // A full disk may accept only a part of a line.
      if (this.#isTorn) await file.truncate(this.#size)
      this.#isTorn = true
      const bytes = Buffer.from(lines)
      await file.appendFile(bytes)
      this.#size += bytes.length
      this.#isTorn = false
    } catch (error) {
      throw new Error(`the agent cannot write its data directory: ${getMessage(error)}`, { cause: error })
    }
  }

  async secure(): Promise<void> {
    await (await this.#open()).datasync()
  }

  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined)
    this.#file = undefined
    await file?.close()
  }

  async remove(): Promise<void> {
    await this.close()
    await rm(this.#path, { force: true })
  }

  async #open(): Promise<FileHandle> {
    this.#file ??= open(this.#path, constants.O_WRONLY | constants.O_APPEND | constants.O_NOFOLLOW)
    try {
      return await this.#file
    } catch (error) {
      this.#file = undefined
      throw error
    }
  }
}
