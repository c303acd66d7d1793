import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { getStartTime, isAlive, waitUntil } from '@crux/postgres'
import type { Logger } from '@crux/service-kit'
import type { Config } from '../config/index.ts'
import { agentDirectory } from '../places.ts'

/** Only the bundle defines this; a server that runs from source leaves it undefined. */
declare const __CRUX_BUNDLED__: boolean | undefined

export interface AgentEnd {
  /** When the early ends started: at this one, unless the starts before it did not last either. */
  since: Date
  at: Date
  /** "exit code 0", the name of a signal, or why it could not be started. */
  reason: string
  /** Null once the process has been started again. */
  nextStartAt: Date | null
}

const stopTimeoutMs = 8_000
const adoptedPollMs = 1_000
/** A start that lasted this long counts as successful: the delay after the next failure is short again. */
const goodRunMs = 60_000
const pauseMsMax = 30_000
/** An agent that exits with code 0 was stopped or is refused, so that a restart soon is likely to be refused again. */
const refusedPauseMsMax = 5 * 60_000

type Options = {
  config: Config
  nodeId: string
  log: Logger
  /**
   * Creates the token for a start; undefined when the agent has one stored. An agent uses a stored token only at the
   * address where it got it: `sameAddress` is false when this server has another address since.
   */
  token: (sameAddress: boolean) => Promise<string | undefined>
  /**
   * Called before each start: an agent whose node was deleted is not started again. Every other agent is, however it
   * ended, after a delay that grows while it keeps ending early.
   */
  isWanted: () => Promise<boolean>
  /** Called when `lastEnd` has changed. */
  changed: () => void
}

/**
 * Runs the agent of this machine in a session of its own: Ctrl-C reaches only the server, which then ends the agent. A
 * server that was killed leaves the agent running. The next server finds it by its file and supervises it, so that
 * there are never two.
 */
export class AgentProcess {
  /** False once it was stopped, or is no longer wanted. */
  running = true
  /** How the process last ended; undefined once it has run for a minute again. */
  lastEnd: AgentEnd | undefined
  private readonly options: Options
  private readonly directory: string
  private readonly runFile: string
  private readonly finished: Promise<void>
  private pid: number | undefined
  private failures = 0
  private wake: (() => void) | undefined

  constructor(options: Options) {
    const { config, nodeId, log } = options
    this.options = options
    this.directory = agentDataDir(config, nodeId)
    this.runFile = join(this.directory, 'process.json')
    this.finished = this.run().catch((err: unknown) =>
      log.error({ err, nodeId }, 'the agent of this machine cannot be run'),
    )
  }

  /** Asks the process to end, then kills it. Resolves when it has ended. It is not started again. */
  async stop(): Promise<void> {
    this.running = false
    this.wake?.()
    if (this.pid !== undefined) await endProcess(this.pid)
    await this.finished
    rmSync(this.runFile, { force: true })
  }

  private async run(): Promise<void> {
    mkdirSync(this.directory, { recursive: true, mode: 0o700 })
    await this.adopt()
    while (this.running) {
      if (!(await this.options.isWanted())) {
        this.running = false
        return
      }
      const startedAt = Date.now()
      const settled = setTimeout(() => this.note(undefined), goodRunMs)
      const exit = await this.start().catch((error: unknown) =>
        error instanceof Error ? error.message : String(error),
      )
      clearTimeout(settled)
      this.pid = undefined
      rmSync(this.runFile, { force: true })
      if (this.running) await this.pauseAfter(exit, Date.now() - startedAt < goodRunMs)
    }
  }

  /** Waits for the end of a process that a previous server has started. */
  private async adopt(): Promise<void> {
    const { nodeId, log } = this.options
    const adopted = readRunFile(this.runFile)
    if (adopted === undefined) return
    log.info({ nodeId, pid: adopted }, 'the agent of this machine still runs')
    this.pid = adopted
    while (this.running && isAlive(adopted)) await this.pause(adoptedPollMs)
    if (this.running) this.pid = undefined
  }

  private async pauseAfter(exit: number | string, short: boolean): Promise<void> {
    const { nodeId, log } = this.options
    const at = new Date()
    this.failures = short ? this.failures + 1 : 1
    const pauseMs = pauseMsAfter(exit, this.failures)
    const reason = typeof exit === 'number' ? `exit code ${exit}` : exit
    log.warn({ nodeId, exit, failures: this.failures, pauseMs }, 'the agent of this machine ended, starting it again')
    const since = short ? (this.lastEnd?.since ?? at) : at
    this.note({ since, at, reason, nextStartAt: new Date(at.getTime() + pauseMs) })
    await this.pause(pauseMs)
    if (this.lastEnd) this.note({ ...this.lastEnd, nextStartAt: null })
  }

  private note(end: AgentEnd | undefined): void {
    if (end === this.lastEnd) return
    this.lastEnd = end
    this.options.changed()
  }

  private async start(): Promise<number | string> {
    const { config, nodeId } = this.options
    const addressFile = join(this.directory, 'server-address')
    const token = await this.options.token(readText(addressFile) === config.url)
    if (token !== undefined) leaveInstallToken(this.directory, token)
    const [command, ...args] = agentCommand(config)
    if (!command) throw new Error('LOCAL_AGENT_COMMAND is empty')
    mkdirSync(join(config.dataDir, 'logs'), { recursive: true, mode: 0o700 })
    const out = openSync(join(config.dataDir, 'logs', `agent-${nodeId}.log`), 'a', 0o600)
    const child = spawn(command, args, {
      cwd: this.directory,
      env: agentEnvironment(config, nodeId, this.directory),
      stdio: ['ignore', out, out],
      detached: true,
    })
    closeSync(out)
    writeFileSync(addressFile, config.url, { mode: 0o600 })
    if (child.pid) {
      this.pid = child.pid
      writeRunFile(this.runFile, child.pid)
    }
    return waitForExit(child)
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }
}

/** The first restart is prompt. The delay grows so that an agent that cannot run does not load the machine. */
function pauseMsAfter(exit: number | string, failures: number): number {
  if (failures === 1) return 100
  return Math.min(exit === 0 ? refusedPauseMsMax : pauseMsMax, 250 * 2 ** Math.min(failures, 12))
}

/** The agent's own directory; the engine of this machine sees it under the same path. */
export const agentDataDir = (config: Config, nodeId: string): string => join(config.dataDir, 'agents', nodeId)

const engineSocket = (): string => {
  const host = process.env.DOCKER_HOST
  return host?.startsWith('unix://') ? host.slice('unix://'.length) : '/var/run/docker.sock'
}

/** Whether an engine answers on this machine. */
export function engineAnswers(socketPath = engineSocket()): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request({ socketPath, path: '/_ping', timeout: 2_000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    asked.on('error', () => resolve(false))
    asked.on('timeout', () => asked.destroy())
    asked.end()
  })
}

/** Returns an argument vector, never a shell line; the setting is split at spaces. */
function agentCommand(config: Config): string[] {
  if (config.localAgentCommand) return config.localAgentCommand.split(/\s+/).filter(Boolean)
  const bundle = join(agentDirectory, 'dist/bundle/agent.mjs')
  // A built server runs the built agent, which takes less memory. A server that runs from source runs the agent's
  // source, because the built agent may be older.
  const built = typeof __CRUX_BUNDLED__ === 'boolean' && existsSync(bundle)
  return [process.execPath, ...memoryFlags, built ? bundle : join(agentDirectory, 'src/main.ts')]
}

/**
 * The agent keeps little data for long and shares the machine with what it deploys, so that memory used for a list or a
 * log must be freed soon.
 */
const memoryFlags = ['--max-semi-space-size=1', '--optimize-for-size']

/**
 * Writes the token to the file where the agent reads and removes it. The environment of a process can be read for as
 * long as it runs.
 */
function leaveInstallToken(directory: string, token: string) {
  mkdirSync(join(directory, '.agent'), { recursive: true, mode: 0o700 })
  const path = join(directory, '.agent', 'install-token')
  rmSync(path, { force: true })
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: 'wx' })
}

/** Passes only what the agent needs, and none of the server's secrets. */
function agentEnvironment(config: Config, nodeId: string, directory: string) {
  const { PATH, HOME, DOCKER_HOST, NODE_EXTRA_CA_CERTS, ROOT_DOMAIN } = process.env
  return {
    PATH,
    HOME,
    DOCKER_HOST,
    NODE_EXTRA_CA_CERTS,
    ROOT_DOMAIN,
    CRUX_URL: config.url,
    CRUX_NODE_ID: nodeId,
    CRUX_DATA_DIR: directory,
    LOG_LEVEL: config.logLevel,
    // Without it each thread that ever ran keeps unused memory.
    MALLOC_ARENA_MAX: '1',
  }
}

const waitForExit = (child: ChildProcess): Promise<number | string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message))
    child.once('exit', (code, signal) => resolve(code ?? signal ?? 'unknown'))
  })

async function endProcess(pid: number): Promise<void> {
  signal(pid, 'SIGTERM')
  if (await waitUntil(() => !isAlive(pid), stopTimeoutMs)) return
  signal(pid, 'SIGKILL')
  await waitUntil(() => !isAlive(pid), 2_000)
}

function signal(pid: number, name: NodeJS.Signals) {
  try {
    process.kill(pid, name)
  } catch {
    // The process has ended already.
  }
}

/**
 * The process of a previous server, if it is still the one that was started: the system may have given the same pid to
 * another process.
 */
function readRunFile(path: string): number | undefined {
  try {
    const { pid, startTime }: { pid: number; startTime: string | null } = JSON.parse(readFileSync(path, 'utf8'))
    return startTime !== null && isAlive(pid) && String(getStartTime(pid)) === String(startTime) ? pid : undefined
  } catch {
    return undefined
  }
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function writeRunFile(path: string, pid: number) {
  writeFileSync(`${path}.new`, JSON.stringify({ pid, startTime: getStartTime(pid) ?? null }), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
