import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Logger } from '@crux/service-kit'
import { type Binaries, findBinaries, placeBinaries } from './binaries.ts'

export interface OsUser {
  name: string
  uid: number
  gid: number
}

export interface DataLocation {
  /** Contains everything of the cluster: data/, port, owner. */
  home: string
  data: string
  binaries: Binaries
  /** The user that runs PostgreSQL; undefined for the current user. */
  user: OsUser | undefined
}

const userName = 'crux-postgres'
const sharedRoot = '/var/lib/crux'

/**
 * Decides where the cluster of a data directory is stored and which user runs it. PostgreSQL refuses to run as root, so root uses an unprivileged
 * user. If that user cannot enter the data directory or node_modules (for example below a home with mode 0700), both are stored in
 * /var/lib/crux/<id>, because parent directories are never opened. The id is stored in the data directory, so that it can move.
 */
export function findLocation(options: { dataDir: string; log: Logger }): DataLocation {
  const dataDir = resolve(options.dataDir)
  mkdirSync(dataDir, { recursive: true })
  const inside = join(dataDir, 'postgres')
  const binaries = findBinaries()
  if (process.getuid?.() !== 0) {
    mkdirSync(inside, { recursive: true, mode: 0o700 })
    return { home: inside, data: join(inside, 'data'), binaries, user: undefined }
  }
  const user = ensureUser(options.log)
  const id = readId(dataDir)
  if (id === undefined && canEnter(dataDir, user) && canRun(binaries, user)) {
    ownDirectory(inside, user)
    return { home: inside, data: join(inside, 'data'), binaries, user }
  }
  const home = join(sharedRoot, id ?? createId(dataDir))
  mkdirSync(home, { recursive: true, mode: 0o755 })
  if (!canEnter(home, user))
    throw new Error(`${sharedRoot} must be open to the user ${user.name} (chmod 755 ${sharedRoot})`)
  const placed = canRun(binaries, user) ? binaries : placeBinaries(binaries, home)
  if (!canRun(placed, user))
    throw new Error(`PostgreSQL does not run from ${placed.directory}; is that file system mounted noexec?`)
  moveCluster(inside, home, options.log)
  ownDirectory(home, user, { mode: 0o755 })
  return { home, data: join(home, 'data'), binaries: placed, user }
}

/** The location of a cluster outside of its data directory, if it has one. */
export function outsideHome(dataDir: string): string | undefined {
  const id = readId(resolve(dataDir))
  return id === undefined ? undefined : join(sharedRoot, id)
}

/** Changes the owner of files that root wrote to the user of the cluster. */
export function own(path: string, user: OsUser | undefined): void {
  if (user) chownSync(path, user.uid, user.gid)
}

function readId(dataDir: string): string | undefined {
  const file = join(dataDir, 'postgres-id')
  if (!existsSync(file)) return undefined
  const id = readFileSync(file, 'utf8').trim()
  if (!/^[0-9a-f]{16}$/.test(id))
    throw new Error(`${file} must hold 16 hexadecimal digits: it names the folder of the database`)
  return id
}

function createId(dataDir: string): string {
  const id = randomBytes(8).toString('hex')
  writeFileSync(join(dataDir, 'postgres-id'), `${id}\n`, { mode: 0o600 })
  return id
}

/** Moves a cluster whose data directory has become unreachable for its user. */
function moveCluster(inside: string, home: string, log: Logger): void {
  if (!existsSync(join(inside, 'data')) || existsSync(join(home, 'data'))) return
  log.info({ from: inside, to: home }, 'moving the database to where its user can reach it')
  for (const name of readdirSync(inside)) {
    const part = join(home, `${name}.moving`)
    rmSync(part, { recursive: true, force: true })
    try {
      renameSync(join(inside, name), join(home, name))
    } catch {
      cpSync(join(inside, name), part, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true })
      renameSync(part, join(home, name))
    }
  }
  rmSync(inside, { recursive: true, force: true })
}

function ownDirectory(directory: string, user: OsUser, options: { mode: number } = { mode: 0o700 }): void {
  mkdirSync(directory, { recursive: true })
  chownSync(directory, user.uid, user.gid)
  chmodSync(directory, options.mode)
  const data = join(directory, 'data')
  if (existsSync(data) && statSync(data).uid !== user.uid) chownTree(data, user)
}

function chownTree(path: string, user: OsUser): void {
  chownSync(path, user.uid, user.gid)
  for (const entry of readdirSync(path, { withFileTypes: true, recursive: true })) {
    if (!entry.isSymbolicLink()) chownSync(join(entry.parentPath, entry.name), user.uid, user.gid)
  }
}

/** Only permission bits are checked. An ACL that allows more is ignored, because /var/lib/crux works too. */
function canEnter(directory: string, user: OsUser): boolean {
  for (let path = resolve(directory); ; path = dirname(path)) {
    const { mode, uid, gid } = statSync(path)
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001
    if ((mode & bit) === 0) return false
    if (path === dirname(path)) return true
  }
}

function canRun(binaries: Binaries, user: OsUser): boolean {
  const result = spawnSync(join(binaries.directory, 'bin/postgres'), ['--version'], {
    uid: user.uid,
    gid: user.gid,
    cwd: '/',
    stdio: 'ignore',
  })
  return result.status === 0
}

function ensureUser(log: Logger): OsUser {
  const found = findUser()
  if (found) return found
  log.info({ user: userName }, 'creating the system user that runs PostgreSQL')
  const flags = '--system --user-group --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin'
  const made = spawnSync('useradd', [...flags.split(' '), userName])
  // A concurrent start may have created the user.
  const user = findUser()
  if (user) return user
  throw new Error(
    `PostgreSQL does not run as root and the user ${userName} cannot be created: ${made.stderr?.toString().trim() || made.error?.message}`,
  )
}

function findUser(): OsUser | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${userName}:`))
  const [, , uid, gid] = line?.split(':') ?? []
  return uid && gid ? { name: userName, uid: Number(uid), gid: Number(gid) } : undefined
}
