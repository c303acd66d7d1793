import { realpath, stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { errorCode } from '@crux/service-kit'
import { EngineError } from '../errors.ts'

/** Whether `inner` lies below `outer`; equal paths do not. Both are absolute and normal. */
export function isInside(inner: string, outer: string): boolean {
  return inner !== outer && inner.startsWith(outer === '/' ? '/' : `${outer}/`)
}

/** An absolute path without dots, empty parts and a slash at its end. */
export function normalPath(path: string): string {
  return posix.normalize(path).replace(/(.)\/$/, '$1')
}

/** Where a path of this machine leads when every link is followed; parts that do not exist yet stay as written. */
export async function resolvePath(path: string): Promise<string> {
  const missing: string[] = []
  for (let existing = normalPath(path); ; existing = posix.dirname(existing)) {
    try {
      return posix.join(await realpath(existing), ...missing)
    } catch (error) {
      if (existing === '/' || errorCode(error) !== 'ENOENT') throw error
      missing.unshift(posix.basename(existing))
    }
  }
}

/**
 * Whether one path is, or lies in, the other, also where a bind mount of the machine shows one of them under another name.
 *
 * @param left resolved, as `resolvePath` returns it
 * @param right likewise
 */
export async function overlapsOnThisMachine(left: string, right: string): Promise<boolean> {
  if (left === right || isInside(left, right) || isInside(right, left)) return true
  const [ofLeft, ofRight] = await Promise.all([identities(left), identities(right)])
  const [ownLeft] = ofLeft
  const [ownRight] = ofRight
  return Boolean((ownLeft && ofRight.includes(ownLeft)) || (ownRight && ofLeft.includes(ownRight)))
}

/** Device and inode of the path and of every directory above it, from the path upwards; empty where one does not exist. */
async function identities(path: string): Promise<string[]> {
  const found: string[] = []
  for (let at = path; ; at = posix.dirname(at)) {
    try {
      const { dev, ino } = await stat(at)
      found.push(`${dev}:${ino}`)
    } catch {
      // Its own identity counts only when it exists; a missing directory is no alias of another one.
      found.push('')
    }
    if (at === '/') return found
  }
}

/** A path that the agent neither changes nor gives to the engine, described for users. The engine was not asked. */
export class PathError extends EngineError {
  override name = 'PathError'

  constructor(message: string, options?: ErrorOptions) {
    super('refused', message, options)
  }
}
