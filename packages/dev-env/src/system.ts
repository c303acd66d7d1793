import { existsSync, mkdirSync, rmSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import { isAbsolute, join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import {
  claimOwnership,
  type Embedded,
  OwnedError,
  type Ownership,
  removeEmbedded,
  startEmbedded,
} from '@crux/postgres/embedded'
import { createLifecycle, createLogger, type Logger } from '@crux/service-kit'
import { type Addresses, getScheme, processEnvironment, publicUrl, reachableHost } from './environment.ts'
import { root } from './files.ts'
import { secureInstallation } from './permissions.ts'
import { choosePort, type PortWish } from './ports.ts'
import { readLogLimits, rotateLogs, rotateWhileRunning } from './rotate-logs.ts'
import { endLeftovers, type Supervised, superviseProcess } from './supervised.ts'

export type ProcessName = 'postgres' | 'identity' | 'server'

export interface SystemOptions {
  /** Contains everything that outlives a start: database, secrets, logs, chosen ports. */
  dataDir: string
  /** 0 is any free port; if absent, the default or the choice of an earlier start. */
  port?: number
  identityPublicPort?: number
  identityAdminPort?: number
  host?: string
  /** CRUX_URL. */
  url?: string
  /** Absent: an embedded PostgreSQL of its own. */
  databaseUrl?: string
  smtpUri?: string
  /** Additional settings for identity and server, with priority over those of `inherit`. */
  env?: NodeJS.ProcessEnv
  /** The base environment; that of this process when absent. */
  inherit?: NodeJS.ProcessEnv
  /** `source` runs the TypeScript sources; `watch` restarts on changes; `bundle` runs dist/main.js. */
  mode?: 'source' | 'watch' | 'bundle'
  /** False disables fsync for faster tests; data may be lost after a power failure. */
  durable?: boolean
  log?: Logger
  /** Called with messages for the operator, such as a replaced port. */
  say?: (words: string) => void
}

export interface AgentProcess {
  pid(): number | undefined
  kill(signal: NodeJS.Signals): Promise<void>
  restart(): Promise<void>
  stop(): Promise<void>
}

export interface System {
  /** CRUX_URL. */
  url: string
  host: string
  port: number
  identityPublicUrl: string
  identityAdminUrl: string
  identityAdminToken: string
  /** The directory of captured mails while no mail server is configured, and the token that shows them in the console. */
  mails: { directory: string; token: string | undefined } | undefined
  databaseUrl: string
  dataDir: string
  pid(name: ProcessName): number | undefined
  /** Sends a signal and, if it ends the process, waits for its exit. The supervisor restarts the process. */
  kill(name: ProcessName, signal: NodeJS.Signals): Promise<void>
  /** Stops one process, keeps it stopped for `pauseMs`, starts it and waits until it is ready. */
  restart(
    name: Exclude<ProcessName, 'postgres'>,
    options?: { pauseMs?: number; signal?: NodeJS.Signals },
  ): Promise<void>
  /** Resolves when a process that was killed serves again. */
  whenReady(name: Exclude<ProcessName, 'postgres'>): Promise<void>
  /** Runs an agent of the checkout against this system. */
  startAgent(options: { name: string; token: string; nodeId: string; env?: NodeJS.ProcessEnv }): AgentProcess
  stop(): Promise<void>
  /** Stops the system and deletes the data directory and the database, also when it is stored elsewhere. */
  destroy(): Promise<void>
}

/**
 * Starts PostgreSQL, identity and server and keeps them running. Containers, the engine and its daemon are not child processes and outlive it.
 *
 * @throws OwnedError when another start runs in this data directory
 * @throws PortTakenError, ConfigError, Error with the end of a log
 */
export async function bootSystem(options: SystemOptions): Promise<System> {
  const dataDir = isAbsolute(options.dataDir) ? options.dataDir : resolve(options.dataDir)
  const log = options.log ?? createLogger({ name: 'dev-env', level: 'error' })
  const given: NodeJS.ProcessEnv = {
    ...(options.inherit ?? process.env),
    ...(options.smtpUri ? { SMTP_URI: options.smtpUri } : {}),
    ...options.env,
  }
  const limits = readLogLimits(given)
  const logs = join(dataDir, 'logs')
  const lifecycle = createLifecycle(log, { stepTimeoutMs: 60_000 })
  secureInstallation(dataDir)
  const ownership = await claimSoon(join(dataDir, 'owner'), `Crux in ${dataDir}`)
  lifecycle.onStop('ownership', () => ownership.release())
  rotateLogs(logs, limits)
  const stopRotating = rotateWhileRunning(logs, limits, (err) => log.error({ err }, 'a log cannot be rotated'))
  lifecycle.onStop('rotation of logs', async () => stopRotating())
  try {
    await endLeftovers(dataDir)
    const addresses = await chooseAddresses(dataDir, options, getScheme(given))
    const embedded =
      options.databaseUrl === undefined ? await startEmbedded({ dataDir, log, durable: options.durable }) : undefined
    if (embedded) lifecycle.onStop('postgres', () => embedded.stop())
    const databaseUrl = options.databaseUrl ?? embedded?.url ?? ''
    const env = processEnvironment({ dataDir, databaseUrl, addresses, given })
    const mode = options.mode ?? 'source'

    const external = Boolean(given.IDENTITY_PUBLIC_URL && given.IDENTITY_ADMIN_URL)
    const identity = external
      ? undefined
      : superviseProcess(
          dataDir,
          createProcess('identity', mode, env.identity, `http://127.0.0.1:${addresses.identityPublicPort}`),
          log,
        )
    const server = superviseProcess(
      dataDir,
      createProcess(
        'server',
        mode,
        env.server,
        `${getScheme(given)}://${reachableHost(addresses.host)}:${addresses.port}`,
      ),
      log,
    )
    for (const [name, process] of [
      ['identity', identity],
      ['server', server],
    ] as const) {
      if (process) lifecycle.onStop(name, () => process.stop())
    }
    await Promise.all([identity?.start(), server.start()])
    return makeSystem({
      dataDir,
      databaseUrl,
      addresses,
      env,
      given,
      log,
      lifecycle,
      ownership,
      embedded,
      identity,
      server,
    })
  } catch (error) {
    await lifecycle.stop()
    throw error
  }
}

function makeSystem(parts: {
  dataDir: string
  databaseUrl: string
  addresses: Addresses
  env: ReturnType<typeof processEnvironment>
  given: NodeJS.ProcessEnv
  log: Logger
  lifecycle: ReturnType<typeof createLifecycle>
  ownership: Ownership
  embedded: Embedded | undefined
  identity: Supervised | undefined
  server: Supervised
}): System {
  const { dataDir, addresses, env, log, lifecycle, embedded } = parts
  const find = (name: Exclude<ProcessName, 'postgres'>): Supervised => {
    const found = name === 'server' ? parts.server : parts.identity
    if (!found) throw new Error(`${name} is not run by this system`)
    return found
  }

  const system: System = {
    url: addresses.url,
    host: addresses.host,
    port: addresses.port,
    identityPublicUrl: env.server.IDENTITY_PUBLIC_URL ?? '',
    identityAdminUrl: env.server.IDENTITY_ADMIN_URL ?? '',
    identityAdminToken: env.adminToken,
    mails: env.mails,
    databaseUrl: parts.databaseUrl,
    dataDir,
    pid: (name) => (name === 'postgres' ? embedded?.pid() : find(name).pid()),
    async kill(name, signal) {
      if (name !== 'postgres') return find(name).kill(signal)
      const pid = embedded?.pid()
      if (pid === undefined) throw new Error('this system runs no PostgreSQL of its own')
      process.kill(pid, signal)
      while (embedded?.pid() === pid) await delay(10)
    },
    async restart(name, { pauseMs = 0, signal = 'SIGTERM' } = {}) {
      await find(name).stop({ signal })
      if (pauseMs > 0) await delay(pauseMs)
      await find(name).start()
    },
    whenReady: (name) => find(name).whenReady(),
    startAgent(options) {
      const agent = superviseProcess(dataDir, agentProcess(dataDir, addresses.url, parts.given, options), log)
      void agent.start().catch((err: unknown) => log.error({ err, agent: options.name }, 'an agent does not start'))
      lifecycle.onStop(`agent ${options.name}`, () => agent.stop())
      return {
        pid: agent.pid,
        kill: agent.kill,
        stop: () => agent.stop(),
        async restart() {
          await agent.stop()
          await agent.start()
        },
      }
    },
    stop() {
      if (existsSync(join(dataDir, 'owner'))) parts.ownership.announceRelease()
      return lifecycle.stop()
    },
    async destroy() {
      await system.stop()
      removeEmbedded({ dataDir })
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
  return system
}

async function chooseAddresses(dataDir: string, options: SystemOptions, scheme: string): Promise<Addresses> {
  const host = options.host ?? '127.0.0.1'
  // The check comes before a port is stored, because a start that fails must not change anything.
  publicUrl(options.url, host, options.port ?? 0)
  const say = options.say ?? (() => undefined)
  const choose = (variable: PortWish['variable'], asked: number | undefined, fallback: number, on = '127.0.0.1') =>
    choosePort(dataDir, { variable, asked, fallback, host: on }, say)
  const port = await choose('CRUX_PORT', options.port, 8000, host)
  return {
    host,
    port,
    identityPublicPort: await choose('IDENTITY_PUBLIC_PORT', options.identityPublicPort, 4433),
    identityAdminPort: await choose('IDENTITY_ADMIN_PORT', options.identityAdminPort, 4434),
    url: publicUrl(options.url, host, port, scheme),
  }
}

function createProcess(
  name: 'identity' | 'server',
  mode: 'source' | 'watch' | 'bundle',
  env: NodeJS.ProcessEnv,
  address: string,
) {
  const cwd = join(root, 'apps', name)
  const args = {
    source: ['src/main.ts'],
    watch: ['--watch', '--watch-preserve-output', 'src/main.ts'],
    bundle: ['dist/main.js'],
  }[mode]
  return { name, args, env, cwd, ready: () => answersOk(`${address}/health/ready`) }
}

/** An agent is ready when it is connected, which only the server knows, so only a running process is required here. */
function agentProcess(
  dataDir: string,
  url: string,
  given: NodeJS.ProcessEnv,
  options: { name: string; token: string; nodeId: string; env?: NodeJS.ProcessEnv },
) {
  const directory = join(dataDir, 'agents', options.name)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  return {
    name: `agent-${options.name}`,
    args: ['src/main.ts'],
    cwd: join(root, 'apps/agent'),
    env: {
      PATH: given.PATH,
      HOME: given.HOME,
      DOCKER_HOST: given.DOCKER_HOST,
      CRUX_URL: url,
      CRUX_TOKEN: options.token,
      CRUX_NODE_ID: options.nodeId,
      CRUX_DATA_DIR: directory,
      ...options.env,
    },
    ready: async () => true,
  }
}

/** The certificate is not verified, because it is for the name that browsers use. */
function answersOk(url: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const options = { agent: false as const, timeout: 2_000, rejectUnauthorized: false }
    const call = (url.startsWith('https:') ? https : http).get(url, options, (answer) => {
      answer.resume()
      resolve(answer.statusCode === 200)
    })
    call.on('timeout', () => call.destroy(new Error('no answer')))
    call.on('error', reject)
  })
}

/** Waits for an owner that is shutting down; one whose terminal has just closed gets some time to notice. */
async function claimSoon(file: string, what: string): Promise<Ownership> {
  const begin = Date.now()
  for (;;) {
    try {
      return claimOwnership({ file, what })
    } catch (error) {
      if (!(error instanceof OwnedError) || Date.now() - begin > (error.stopping ? 60_000 : 2_000)) throw error
    }
    await delay(50)
  }
}
