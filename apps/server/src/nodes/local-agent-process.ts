import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { isAlive, startTimeOf, waitUntil } from '@crux/postgres'
import type { Logger } from '@crux/service-kit'
import type { Config } from '../config/index.ts'
import { agentDirectory } from '../places.ts'

/** Only the bundle defines this; a server that runs from source leaves it undefined. */
declare const __CRUX_BUNDLED__: boolean | undefined

export interface AgentProcess {
  readonly running: boolean
  /** How the process last ended; undefined once it has run for a minute again. */
  readonly lastEnd: AgentEnd | undefined
  /** Asks the process to end, then kills it. Resolves when it has ended. It is not started again. */
  stop(): Promise<void>
}

export interface AgentEnd {
  /** When the early ends started: at this one, unless the starts before it did not last either. */
  since: Date
  at: Date
  /** "exit code 0", the name of a signal, or why it could not be started. */
  reason: string
  /** Undefined once the process has been started again. */
  nextStartAt: Date | undefined
}

const stopTimeoutMs = 8_000
const adoptedPollMs = 1_000
/** A start that lasted this long counts as successful: the delay after the next failure is short again. */
const goodRunMs = 60_000
const pauseMsMax = 30_000
/** An agent that exits with code 0 was stopped or is refused, so that a restart soon is likely to be refused again. */
const refusedPauseMsMax = 5 * 60_000

/**
 * Runs the agent of this machine in a session of its own: Ctrl-C reaches only the server, which then ends the agent. A
 * server that was killed leaves the agent running. The next server finds it by its file and supervises it, so that
 * there are never two.
 *
 * @param options.token creates the token for a start; undefined when the agent has one stored. An agent uses a stored
 *   token only at the address where it got it: `sameAddress` is false when this server has another address since
 * @param options.isWanted called before each start: an agent whose node was deleted is not started again. Every other
 *   agent is, however it ended, after a delay that grows while it keeps ending early
 * @param options.changed called when `lastEnd` has changed
 */
export function runAgentProcess(options: {
  config: Config
  nodeId: string
  log: Logger
  token: (sameAddress: boolean) => Promise<string | undefined>
  isWanted: () => Promise<boolean>
  changed: () => void
}): AgentProcess {
  const { config, nodeId, log } = options
  const directory = agentDataDir(config, nodeId)
  const runFile = join(directory, 'process.json')
  const addressFile = join(directory, 'server-address')
  let wanted = true
  let pid: number | undefined
  let failures = 0
  let lastEnd: AgentEnd | undefined
  let wake: (() => void) | undefined

  async function run() {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const adopted = readRunFile(runFile)
    if (adopted !== undefined) {
      log.info({ nodeId, pid: adopted }, 'the agent of this machine still runs')
      pid = adopted
      while (wanted && isAlive(adopted)) await pause(adoptedPollMs)
      pid = wanted ? undefined : pid
    }
    while (wanted) {
      if (!(await options.isWanted())) {
        wanted = false
        return
      }
      const startedAt = Date.now()
      const settled = setTimeout(() => note(undefined), goodRunMs)
      const exit = await start().catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
      clearTimeout(settled)
      pid = undefined
      rmSync(runFile, { force: true })
      if (!wanted) return
      const at = new Date()
      const short = at.getTime() - startedAt < goodRunMs
      failures = short ? failures + 1 : 1
      const pauseMs = pauseAfter(exit, failures)
      const reason = typeof exit === 'number' ? `exit code ${exit}` : exit
      log.warn({ nodeId, exit, failures, pauseMs }, 'the agent of this machine ended, starting it again')
      const since = short ? (lastEnd?.since ?? at) : at
      note({ since, at, reason, nextStartAt: new Date(at.getTime() + pauseMs) })
      await pause(pauseMs)
      if (lastEnd) note({ ...lastEnd, nextStartAt: undefined })
    }
  }

  function note(end: AgentEnd | undefined): void {
    if (end === lastEnd) return
    lastEnd = end
    options.changed()
  }

  async function start(): Promise<number | string> {
    const token = await options.token(readText(addressFile) === config.url)
    if (token !== undefined) leaveInstallToken(directory, token)
    const [command, ...args] = agentCommand(config)
    if (!command) throw new Error('LOCAL_AGENT_COMMAND is empty')
    mkdirSync(join(config.dataDir, 'logs'), { recursive: true, mode: 0o700 })
    const out = openSync(join(config.dataDir, 'logs', `agent-${nodeId}.log`), 'a', 0o600)
    const child = spawn(command, args, {
      cwd: directory,
      env: agentEnvironment(config, nodeId, directory),
      stdio: ['ignore', out, out],
      detached: true,
    })
    closeSync(out)
    writeFileSync(addressFile, config.url, { mode: 0o600 })
    if (child.pid) {
      pid = child.pid
      writeRunFile(runFile, child.pid)
    }
    return exitOf(child)
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  const running = run().catch((err: unknown) => log.error({ err, nodeId }, 'the agent of this machine cannot be run'))
  return {
    get running() {
      return wanted
    },
    get lastEnd() {
      return lastEnd
    },
    async stop() {
      wanted = false
      wake?.()
      const mine = pid
      if (mine !== undefined) await endProcess(mine)
      await running
      rmSync(runFile, { force: true })
    },
  }
}

/** The first restart is prompt. The delay grows so that an agent that cannot run does not load the machine. */
function pauseAfter(exit: number | string, failures: number): number {
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

const exitOf = (child: ChildProcess): Promise<number | string> =>
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
    return startTime !== null && isAlive(pid) && String(startTimeOf(pid)) === String(startTime) ? pid : undefined
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
  writeFileSync(`${path}.new`, JSON.stringify({ pid, startTime: startTimeOf(pid) ?? null }), { mode: 0o600 })
  renameSync(`${path}.new`, path)
}
