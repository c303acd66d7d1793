import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Others may pass through to files of their own, because PostgreSQL runs as another user when Crux runs as root. They cannot list it. */
const installationMode = 0o711
const privateMode = 0o700
const stickyBit = 0o1000

/**
 * Creates the data directory of an installation if it is missing, and removes permissions that an older version gave to other users of the machine.
 * Below `agents` are the volumes of containers, whose files may have the set-user-id bit, so other users must not reach them. Existing files only
 * lose permissions, and files of other owners are not changed.
 */
export function secureInstallation(dataDir: string): void {
  if (existsSync(dataDir)) restrict(dataDir, installationMode)
  else {
    mkdirSync(dataDir, { recursive: true })
    chmodSync(dataDir, installationMode)
  }
  for (const name of ['agents', 'logs', 'mails', 'run', 'secrets']) restrict(join(dataDir, name), privateMode)
  for (const name of listEntries(join(dataDir, 'agents'))) restrict(join(dataDir, 'agents', name), privateMode)
  for (const name of ['owner', 'ports.json', 'postgres-id']) restrictFile(join(dataDir, name))
  for (const directory of ['logs', 'run'])
    for (const name of listEntries(join(dataDir, directory))) restrictFile(join(dataDir, directory, name))
}

function restrict(directory: string, mode: number): void {
  const found = lstatSync(directory, { throwIfNoEntry: false })
  // A directory with the sticky bit is shared by all users, such as /tmp.
  if (!found?.isDirectory() || !isOwn(found.uid) || (found.mode & stickyBit) !== 0) return
  if ((found.mode & 0o777 & ~mode) !== 0) chmodSync(directory, found.mode & mode)
}

function restrictFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isFile() && found.nlink === 1 && isOwn(found.uid) && (found.mode & 0o077) !== 0)
    chmodSync(path, found.mode & privateMode)
}

function listEntries(directory: string): string[] {
  return lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(directory) : []
}

const isOwn = (uid: number) => process.getuid === undefined || uid === process.getuid()
