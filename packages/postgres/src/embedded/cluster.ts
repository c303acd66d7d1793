import type { ChildProcess } from 'node:child_process'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DataLocation, own } from './location.ts'
import { endingWithParent, isAlive, processesIn, signal, waitUntil } from './processes.ts'

/** Creates the cluster if there is none. The creation is atomic: a killed initdb leaves only a directory that the next one deletes. */
export function createCluster(location: DataLocation, password: string): void {
  if (existsSync(join(location.data, 'PG_VERSION'))) return
  const part = join(location.home, 'data.part')
  const passwordFile = join(location.home, 'initdb-password')
  rmSync(part, { recursive: true, force: true })
  try {
    writeFileSync(passwordFile, password, { mode: 0o600 })
    own(passwordFile, location.user)
    const result = spawnSync(
      join(location.binaries.directory, 'bin/initdb'),
      [
        ...['--pgdata', part, '--username', 'crux', '--pwfile', passwordFile, '--auth', 'scram-sha-256'],
        // The builtin provider sorts the same on every machine, so an update of the C library never invalidates an index.
        ...'--encoding UTF8 --locale-provider builtin --builtin-locale C.UTF-8 --locale C --no-sync'.split(' '),
      ],
      { cwd: '/', env: environment(), ...identity(location), encoding: 'utf8' },
    )
    if (result.status !== 0) throw new Error(`initdb failed: ${(result.stderr || String(result.error)).trim()}`)
  } finally {
    rmSync(passwordFile, { force: true })
  }
  renameSync(part, location.data)
}

/**
 * Starts the postmaster. On Linux it gets SIGINT, a fast shutdown, when this process ends for any reason.
 *
 * @param durable false disables fsync for faster tests; data may be lost after a power failure
 */
export function spawnPostmaster(location: DataLocation, options: { port: number; durable: boolean }): ChildProcess {
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: String(options.port),
    unix_socket_directories: '',
    max_connections: '200',
    shared_buffers: '128MB',
    effective_cache_size: '512MB',
    maintenance_work_mem: '64MB',
    checkpoint_timeout: '15min',
    // Each round starts a process for each database, even if there is nothing to do.
    autovacuum_naptime: '5min',
    wal_level: 'minimal',
    max_wal_senders: '0',
    // This needs fewer processes: the data is in memory anyway, and nothing is replicated.
    io_method: 'sync',
    max_logical_replication_workers: '0',
    random_page_cost: '1.1',
    jit: 'off',
    timezone: 'UTC',
    log_timezone: 'UTC',
    log_min_messages: 'warning',
    log_line_prefix: '',
    ...(options.durable ? {} : { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' }),
  }
  const postgres = join(location.binaries.directory, 'bin/postgres')
  const args = ['-D', location.data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])]
  const stdio: ['ignore', 'ignore', 'pipe'] = ['ignore', 'ignore', 'pipe']
  // The postmaster has a session of its own: Ctrl-C in a terminal reaches only the supervisor, which stops all processes in order.
  const common = { cwd: '/', env: environment(), stdio, detached: true }
  const drop = location.user
    ? ['--reuid', String(location.user.uid), '--regid', String(location.user.gid), '--clear-groups']
    : []
  const [command = postgres, ...rest] = endingWithParent('INT', [postgres, ...args], drop)
  // Without setpriv, the user is changed here.
  return spawn(command, rest, command === postgres ? { ...common, ...identity(location) } : common)
}

/**
 * Ends the processes that a dead owner left in this data directory: a running postmaster, backends that are exiting, and the id of a zombie in
 * postmaster.pid. PostgreSQL itself would refuse to start beside any of them.
 */
export async function clearLeftovers(location: DataLocation): Promise<void> {
  const pid = postmasterPid(location)
  const postmaster = pid !== undefined && processesIn(location.data).includes(pid) ? pid : undefined
  if (postmaster !== undefined) {
    signal(postmaster, 'SIGINT')
    if (!(await waitUntil(() => !isAlive(postmaster), 10_000))) signal(postmaster, 'SIGQUIT')
  }
  const gone = () => processesIn(location.data).length === 0
  // Without a postmaster most backends end at once; the others are signaled.
  if (!(await waitUntil(gone, 300))) {
    for (const rest of processesIn(location.data)) signal(rest, 'SIGQUIT')
    if (!(await waitUntil(gone, 5_000))) for (const rest of processesIn(location.data)) signal(rest, 'SIGKILL')
    if (!(await waitUntil(gone, 5_000)))
      throw new Error(`processes ${processesIn(location.data).join(', ')} keep the database in use`)
  }
  // This is safe because no process of the cluster runs any more. The id may be that of a zombie or of another process.
  if (process.platform === 'linux') rmSync(join(location.data, 'postmaster.pid'), { force: true })
}

export function postmasterPid(location: DataLocation): number | undefined {
  try {
    const pid = Number(readFileSync(join(location.data, 'postmaster.pid'), 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 1 ? pid : undefined
  } catch {
    return undefined
  }
}

function identity(location: DataLocation): { uid?: number; gid?: number } {
  return location.user ? { uid: location.user.uid, gid: location.user.gid } : {}
}

/** PostgreSQL reads PG* variables and the locale, so those of the caller must not be inherited. */
function environment(): NodeJS.ProcessEnv {
  return { PATH: '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' }
}
