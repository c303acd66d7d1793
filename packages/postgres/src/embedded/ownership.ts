import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { isAlive, startTimeOf } from './processes.ts'

export interface Ownership {
  release(): void
}

/** Somebody else, alive, owns it. */
export class OwnedError extends Error {
  override name = 'OwnedError'
  readonly pid: number

  constructor(what: string, pid: number) {
    super(`${what} is in use by process ${pid}; stop that one first`)
    this.pid = pid
  }
}

/**
 * Claims a thing for this process by a file with the process id and its start time, so that an id that was given out
 * anew is no owner. What a dead process left is taken over.
 *
 * @param options.what names the thing in the error
 * @throws OwnedError
 */
export function claimOwnership(options: { file: string; what: string }): Ownership {
  const mine = JSON.stringify({ pid: process.pid, startTime: startTimeOf(process.pid) ?? null })
  mkdirSync(dirname(options.file), { recursive: true })
  for (let attempt = 0; attempt < 20; attempt++) {
    try {
      writeFileSync(options.file, mine, { flag: 'wx', mode: 0o600 })
      return { release: () => releaseIfMine(options.file, mine) }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    const owner = readOwner(options.file)
    if (owner && ownerLives(owner)) throw new OwnedError(options.what, owner.pid)
    takeAside(options.file, options.what)
  }
  throw new Error(`${options.what}: ${options.file} changes all the time; are several processes starting?`)
}

/**
 * Moves a stale file away before it is removed: of two processes that found it stale, one may meanwhile have claimed
 * it, and its claim must be put back.
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
    throw new OwnedError(what, owner.pid)
  }
  rmSync(aside, { force: true })
}

function ownerLives(owner: { pid: number; startTime: string | null }): boolean {
  if (!isAlive(owner.pid)) return false
  return owner.startTime === null || startTimeOf(owner.pid) === owner.startTime
}

function readOwner(file: string): { pid: number; startTime: string | null } | undefined {
  try {
    const { pid, startTime } = JSON.parse(readFileSync(file, 'utf8')) as { pid?: unknown; startTime?: unknown }
    return typeof pid === 'number' ? { pid, startTime: typeof startTime === 'string' ? startTime : null } : undefined
  } catch {
    return undefined
  }
}

function releaseIfMine(file: string, mine: string): void {
  try {
    if (readFileSync(file, 'utf8') === mine) rmSync(file)
  } catch {
    // Gone already.
  }
}
