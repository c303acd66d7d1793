import { openSync } from 'node:fs'
import { join } from 'node:path'

/** The kernel takes 107 bytes for a unix socket's path. */
const pathMax = 100
const directories = new Map<string, number>()

/** The control socket of a gate's folder, by a way that is short enough however deep the folder lies. */
export function socketPath(directory: string, name = 'control.sock'): string {
  const path = join(directory, name)
  if (Buffer.byteLength(path) <= pathMax) return path
  // Kept open for good: there is one such folder in a process.
  const fd = directories.get(directory) ?? openSync(directory, 'r')
  directories.set(directory, fd)
  return `/proc/self/fd/${fd}/${name}`
}
