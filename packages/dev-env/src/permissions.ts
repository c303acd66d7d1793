import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Others may pass through, to files that are theirs: PostgreSQL runs as another user when Crux runs as root. They may not list it. */
const installationMode = 0o711
const privateMode = 0o700
const stickyBit = 0o1000

/**
 * Makes the data directory of an installation where it is missing, and closes what an older version left open to other users of the
 * machine. Below `agents` lie the volumes of containers, whose files may have the set-user-id bit: nobody else must reach them.
 * Only bits are taken away from what exists, and from nothing that belongs to somebody else.
 */
export function secureInstallation(dataDir: string): void {
  if (existsSync(dataDir)) restrict(dataDir, installationMode)
  else {
    mkdirSync(dataDir, { recursive: true })
    chmodSync(dataDir, installationMode)
  }
  for (const name of ['agents', 'logs', 'mails', 'run', 'secrets']) restrict(join(dataDir, name), privateMode)
  for (const name of entriesOf(join(dataDir, 'agents'))) restrict(join(dataDir, 'agents', name), privateMode)
  for (const name of ['owner', 'ports.json', 'postgres-id']) restrictFile(join(dataDir, name))
  for (const directory of ['logs', 'run'])
    for (const name of entriesOf(join(dataDir, directory))) restrictFile(join(dataDir, directory, name))
}

function restrict(directory: string, mode: number): void {
  const found = lstatSync(directory, { throwIfNoEntry: false })
  // One with the sticky bit is everybody's, such as /tmp.
  if (!found?.isDirectory() || !isOwn(found.uid) || (found.mode & stickyBit) !== 0) return
  if ((found.mode & 0o777 & ~mode) !== 0) chmodSync(directory, found.mode & mode)
}

function restrictFile(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found?.isFile() && found.nlink === 1 && isOwn(found.uid) && (found.mode & 0o077) !== 0)
    chmodSync(path, found.mode & privateMode)
}

function entriesOf(directory: string): string[] {
  return lstatSync(directory, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(directory) : []
}

const isOwn = (uid: number) => process.getuid === undefined || uid === process.getuid()
