import { openSync } from 'node:fs'
import { join } from 'node:path'

/** The kernel accepts 107 bytes for a unix socket's path. */
const pathMax = 100
const directories = new Map<string, number>()

/** The control socket of a gate's directory, by a path that is short enough however deep the directory is. */
export function socketPath(directory: string, name = 'control.sock'): string {
  const path = join(directory, name)
  if (Buffer.byteLength(path) <= pathMax) return path
  // The handle stays open: a process has one such directory.
  const fd = directories.get(directory) ?? openSync(directory, 'r')
  directories.set(directory, fd)
  return `/proc/self/fd/${fd}/${name}`
}
