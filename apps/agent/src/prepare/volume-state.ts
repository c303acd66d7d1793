import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, lutimes, open, rename, unlink } from 'node:fs/promises'
import { errorCode } from '@crux/service-kit'
import { pause } from '../concurrency/pause.ts'
import { directoryFlags, toEntryPath } from '../files/directory-walk.ts'

/** Says which release has filled the volume. */
const markerName = '.crux-prepared'
/** Held by the pod that fills it. */
const lockName = '.crux-preparing'
/** File systems have it in their own root, where only root may read it. */
const foundName = 'lost+found'

/** Whether an entry of a volume, by its path joined by slashes, is none of the files that are copied into it. */
export const isReserved = (path: string): boolean => [markerName, lockName, foundName].includes(path)

const stateFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
/** Identities of releases are shorter. */
const stateBytesMax = 4_096
const beatMs = 5_000
const pollMs = 500
/** A lock that nobody has touched for this long belongs to a process that is gone. */
const goneMs = 60_000

/**
 * Fills a volume once for each release. Several pods may have the volume: the first one fills it while the others wait, and a pod that starts
 * later, for the same release, finds it filled and changes nothing.
 *
 * @param identity of the release and of what it fills the volume with
 * @returns undefined when the volume was filled already
 */
export async function fillOnce<T>(
  path: string,
  identity: string,
  { goneAfterMs = goneMs, signal }: { signal: AbortSignal; goneAfterMs?: number },
  fill: () => Promise<T>,
): Promise<T | undefined> {
  const root = await open(path, directoryFlags)
  try {
    const isFilled = async () => (await readText(root, markerName)) === identity
    const lock = await takeLock(root, { signal, goneAfterMs }, isFilled)
    if (!lock) return undefined
    try {
      if (await isFilled()) return undefined
      // A volume that is filled only in part belongs to no release.
      await unlink(toEntryPath(root, markerName)).catch(ignoreMissing)
      const filled = await lock.whileHeld(fill)
      await writeMarker(root, identity)
      return filled
    } finally {
      await lock.release()
    }
  } finally {
    await root.close()
  }
}

interface Lock {
  /** Fails when another process has taken the lock, as that of a process that is gone. */
  whileHeld<T>(work: () => Promise<T>): Promise<T>
  release(): Promise<void>
}

/** @returns undefined when the volume is filled before it is this process's turn */
async function takeLock(
  root: FileHandle,
  { goneAfterMs, signal }: { signal: AbortSignal; goneAfterMs: number },
  isFilled: () => Promise<boolean>,
): Promise<Lock | undefined> {
  const own = randomUUID()
  let seen = ''
  let since = performance.now()
  while (!(await createLock(root, own))) {
    signal.throwIfAborted()
    const state = await describeLock(root)
    if (state !== seen) {
      seen = state
      since = performance.now()
    } else if (state !== '' && performance.now() - since > goneAfterMs) await removeGone(root, state)
    await pause(pollMs, signal)
    if (await isFilled()) return undefined
  }
  return {
    async whileHeld(work) {
      const lost = new AbortController()
      const ended = new AbortController()
      const beating = beat(root, own, ended.signal).catch((error: unknown) => lost.abort(error))
      try {
        const result = await work()
        lost.signal.throwIfAborted()
        return result
      } finally {
        ended.abort()
        await beating
      }
    },
    async release() {
      if ((await readText(root, lockName)) === own) await unlink(toEntryPath(root, lockName)).catch(ignoreMissing)
    },
  }
}

async function createLock(root: FileHandle, own: string): Promise<boolean> {
  try {
    const file = await open(toEntryPath(root, lockName), 'wx', 0o664)
    try {
      await file.writeFile(own)
    } finally {
      await file.close()
    }
    return true
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false
    throw error
  }
}

async function beat(root: FileHandle, own: string, ended: AbortSignal): Promise<void> {
  for (;;) {
    const isOver = await pause(beatMs, ended).then(
      () => false,
      () => true,
    )
    if (isOver) return
    if ((await readText(root, lockName)) !== own) throw new Error('another pod has begun to fill the volume')
    const now = new Date()
    await lutimes(toEntryPath(root, lockName), now, now)
  }
}

/** Its holder and its last beat: clocks of other machines are compared with themselves alone. */
async function describeLock(root: FileHandle): Promise<string> {
  const found = await readState(root, lockName)
  return found ? `${found.mtimeMs} ${found.text}` : ''
}

async function removeGone(root: FileHandle, state: string): Promise<void> {
  const aside = toEntryPath(root, `.crux-${randomUUID()}.part`)
  if ((await describeLock(root)) !== state) return
  await rename(toEntryPath(root, lockName), aside).catch(ignoreMissing)
  await unlink(aside).catch(ignoreMissing)
}

async function writeMarker(root: FileHandle, identity: string): Promise<void> {
  const temporary = toEntryPath(root, `.crux-${randomUUID()}.part`)
  const file = await open(temporary, 'wx', 0o664)
  try {
    await file.writeFile(identity)
  } finally {
    await file.close()
  }
  await rename(temporary, toEntryPath(root, markerName))
}

const readText = async (root: FileHandle, name: string): Promise<string | undefined> =>
  (await readState(root, name))?.text

/**
 * Containers write into the volume too: a link is not followed, a pipe is not waited for, and of a long file only the beginning is read. Whatever is no
 * file has no text.
 */
async function readState(root: FileHandle, name: string): Promise<{ text: string; mtimeMs: number } | undefined> {
  try {
    const file = await open(toEntryPath(root, name), stateFlags)
    try {
      const stats = await file.stat()
      if (!stats.isFile()) return { text: '', mtimeMs: stats.mtimeMs }
      const { buffer, bytesRead } = await file.read({ buffer: Buffer.alloc(stateBytesMax) })
      return { text: buffer.toString('utf8', 0, bytesRead), mtimeMs: stats.mtimeMs }
    } finally {
      await file.close()
    }
  } catch (error) {
    if (errorCode(error) === 'ELOOP') return { text: '', mtimeMs: 0 }
    ignoreMissing(error)
    return undefined
  }
}

function ignoreMissing(error: unknown): void {
  if (errorCode(error) !== 'ENOENT') throw error
}
