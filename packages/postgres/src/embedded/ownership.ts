import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { getStartTime, isAlive } from './processes.ts'

export interface Ownership {
  /** Announces to waiting processes that the release is imminent. */
  announceRelease(): void
  release(): void
}

/** Another running process owns it. */
export class OwnedError extends Error {
  override name = 'OwnedError'
  readonly pid: number
  readonly stopping: boolean

  constructor(what: string, owner: { pid: number; stopping: boolean }) {
    super(`${what} is in use by process ${owner.pid}; stop that one first`)
    this.pid = owner.pid
    this.stopping = owner.stopping
  }
}

interface Owner {
  pid: number
  startTime: string | null
  stopping: boolean
}

/**
 * Claims a resource for this process by a file with the process id and its start time, so that a reused id does not count as the owner. The claim of
 * a dead process is replaced.
 *
 * @param options.what names the resource in the error
 * @throws OwnedError
 */
export function claimOwnership(options: { file: string; what: string }): Ownership {
  const mine: Owner = { pid: process.pid, startTime: getStartTime(process.pid) ?? null, stopping: false }
  mkdirSync(dirname(options.file), { recursive: true })
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      writeFileSync(options.file, JSON.stringify(mine), { flag: 'wx', mode: 0o600 })
      return {
        announceRelease: () =>
          writeFileSync(options.file, JSON.stringify({ ...mine, stopping: true }), { mode: 0o600 }),
        release: () => rmSync(options.file, { force: true }),
      }
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    }
    const owner = readOwner(options.file)
    if (owner && ownerLives(owner)) throw new OwnedError(options.what, owner)
    takeAside(options.file, options.what)
  }
  throw new Error(`${options.what}: ${options.file} changes all the time; are several processes starting?`)
}

/**
 * Moves a stale file aside before it is deleted: of two processes that found it stale, one may already have claimed the resource, and its claim must
 * be restored.
 */
function takeAside(file: string, what: string): void {
  const aside = `${file}.${process.pid}`
  try {
    renameSync(file, aside)
  } catch {
    return
  }
  const owner = readOwner(aside)
  if (owner && ownerLives(owner)) {
    renameSync(aside, file)
    throw new OwnedError(what, owner)
  }
  rmSync(aside, { force: true })
}

function ownerLives(owner: Owner): boolean {
  if (!isAlive(owner.pid)) return false
  return owner.startTime === null || getStartTime(owner.pid) === owner.startTime
}

function readOwner(file: string): Owner | undefined {
  try {
    const { pid, startTime, stopping }: Record<string, unknown> = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof pid !== 'number') return undefined
    return { pid, startTime: typeof startTime === 'string' ? startTime : null, stopping: stopping === true }
  } catch {
    return undefined
  }
}
