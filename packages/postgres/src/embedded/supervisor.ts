import type { ChildProcess } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@crux/service-kit'
import { Client } from 'pg'
import { withClient } from '../client.ts'
import { clearLeftovers, createCluster, postmasterPid, spawnPostmaster } from './cluster.ts'
import { type DataLocation, findLocation, outsideHome } from './location.ts'
import { claimOwnership } from './ownership.ts'

export interface Embedded {
  /** Contains the password and connects to the database `crux`. Stays the same when PostgreSQL is restarted. */
  url: string
  /** The id of the current postmaster; undefined while none runs. */
  pid(): number | undefined
  stop(): Promise<void>
}

const databaseName = 'crux'

/**
 * Runs an embedded PostgreSQL 18 below the data directory, on loopback, with a generated password in `<dataDir>/secrets/postgres-password`. Restarts
 * it when it exits; ends with this process.
 *
 * @param options.port the requested port; when absent the previous one, or a free one
 * @param options.durable false disables fsync for faster tests; data may be lost after a power failure
 * @throws OwnedError when another process runs it
 */
export async function startEmbedded(options: {
  dataDir: string
  log: Logger
  port?: number
  durable?: boolean
}): Promise<Embedded> {
  const { log, durable = true } = options
  const location = findLocation(options)
  const ownership = claimOwnership({ file: join(location.home, 'owner'), what: `the database in ${options.dataDir}` })
  try {
    const password = readOrCreatePassword(options.dataDir)
    await clearLeftovers(location)
    createCluster(location, password)
    const supervisor = supervise(location, { log, durable, password, port: await choosePort(location, options.port) })
    await supervisor.started
    return {
      url: supervisor.url(),
      pid: supervisor.pid,
      async stop() {
        await supervisor.stop()
        ownership.release()
      },
    }
  } catch (error) {
    ownership.release()
    throw error
  }
}

/** Deletes the cluster of a data directory permanently, at any location. It must be stopped. */
export function removeEmbedded(options: { dataDir: string }): void {
  const outside = outsideHome(options.dataDir)
  if (outside) rmSync(outside, { recursive: true, force: true })
  rmSync(join(options.dataDir, 'postgres'), { recursive: true, force: true })
}

function supervise(location: DataLocation, options: { log: Logger; durable: boolean; password: string; port: number }) {
  const { log, port } = options
  let child: ChildProcess | undefined
  let stopping = false
  const url = (database = databaseName) => `postgres://crux:${options.password}@127.0.0.1:${port}/${database}`

  /** Resolves when it answers, rejects when it exits before. */
  async function launch(): Promise<{ ended: Promise<string> }> {
    const mine = spawnPostmaster(location, { port, durable: options.durable })
    child = mine
    const lastWords: string[] = []
    if (mine.stderr) createInterface({ input: mine.stderr }).on('line', (line) => logLine(log, line, lastWords))
    const ended = new Promise<string>((resolve) => {
      mine.once('error', (error) => resolve(error.message))
      mine.once('exit', (code, name) => resolve(`${name ?? `code ${code}`} ${lastWords.join(' ')}`.trim()))
    })
    let over: string | undefined
    void ended.then((exitText) => {
      over = exitText
      if (child === mine) child = undefined
    })
    while (over === undefined && !(await answers(url('postgres')))) await delay(15)
    if (over !== undefined) throw new Error(`PostgreSQL did not start: ${over}`)
    return { ended }
  }

  /** The reason of the exit is logged once. Starts are repeated indefinitely, because Crux cannot work without the database. */
  async function keepRunning(ended: Promise<string>): Promise<void> {
    for (let failures = 0; ; ) {
      const exitText = await ended
      if (stopping) return
      log.error({ exit: exitText }, 'PostgreSQL ended, starting it again')
      for (;;) {
        try {
          await clearLeftovers(location)
          ended = (await launch()).ended
          break
        } catch (err) {
          if (stopping) return
          log.error({ err }, 'PostgreSQL does not start')
          await delay(Math.min(5_000, 100 * 2 ** failures++))
        }
      }
      failures = 0
      log.info('PostgreSQL runs again')
    }
  }

  async function start(): Promise<void> {
    const { ended } = await launch()
    void keepRunning(ended)
    await createDatabase(url('postgres'))
  }

  return {
    url,
    pid: () => (child ? (postmasterPid(location) ?? child.pid) : undefined),
    started: start(),
    async stop() {
      stopping = true
      const mine = child
      if (!mine || mine.exitCode !== null || mine.signalCode !== null) return
      const exited = new Promise((resolve) => mine.once('exit', resolve))
      for (const name of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
        mine.kill(name)
        const late = delay(15_000, 'late', { ref: false })
        if ((await Promise.race([exited, late])) !== 'late') return
      }
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    return true
  } catch (error) {
    // The password is wrong: the server answers, and retries do not help.
    if (error instanceof Error && 'code' in error && error.code === '28P01')
      throw new Error('PostgreSQL refuses the password in secrets/postgres-password')
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

const createDatabase = (url: string): Promise<void> =>
  withClient(url, 'crux start', async (client) => {
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [databaseName])
    if (rowCount === 0) await client.query(`create database ${databaseName}`)
  })

/** The password is stored with the other secrets of the installation, so it does not depend on the location of the cluster. */
function readOrCreatePassword(dataDir: string): string {
  const file = join(dataDir, 'secrets/postgres-password')
  if (existsSync(file)) return readFileSync(file, 'utf8').trim()
  const password = randomBytes(24).toString('hex')
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  writeFileSync(file, `${password}\n`, { mode: 0o600 })
  return password
}

async function choosePort(location: DataLocation, asked: number | undefined): Promise<number> {
  if (asked) return asked
  const file = join(location.home, 'port')
  const last = existsSync(file) ? Number(readFileSync(file, 'utf8')) : 0
  const port = last > 0 && (await freePort(last, '127.0.0.1')) ? last : await freePort(0, '127.0.0.1')
  if (!port) throw new Error('no free port on 127.0.0.1 for PostgreSQL')
  if (port !== last) writeFileSync(file, String(port), { mode: 0o600 })
  return port
}

/** The port if it is free, or any free one for 0. */
export function freePort(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(undefined))
    server.listen(port, host, () => {
      const address = server.address()
      server.close(() => resolve(typeof address === 'object' && address ? address.port : undefined))
    })
  })
}

/** Failed statements are reported by their callers, so only messages about the server itself are logged prominently. */
function logLine(log: Logger, line: string, lastWords: string[]): void {
  const [, severity = '', text = line] = /^(\w+):\s+(.*)$/.exec(line) ?? []
  if (severity === 'FATAL' || severity === 'PANIC') {
    lastWords.push(text)
    if (lastWords.length > 3) lastWords.shift()
  }
  if (severity === 'PANIC') log.error({ postgres: text }, 'PostgreSQL panics')
  else if (severity === 'WARNING') log.warn({ postgres: text }, 'PostgreSQL warns')
  else log.debug({ postgres: line }, 'PostgreSQL says')
}
