import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endingWithParent, getStartTime, isAlive, waitUntil } from '@crux/postgres/embedded'
import type { Logger } from '@crux/service-kit'
import { lastLogLines, openLog, readJson, writeJson } from './files.ts'

export interface ProcessSpec {
  name: string
  args: string[]
  env: NodeJS.ProcessEnv
  cwd: string
  /** Whether the process serves; polled until it is true. */
  ready: () => Promise<boolean>
}

export interface Supervised {
  pid(): number | undefined
  /**
   * Resolves when the process is ready.
   *
   * @throws Error with the end of its log when it exits by itself before that
   */
  start(): Promise<void>
  /** Resolves when the current process, or the next one, is ready. */
  whenReady(timeoutMs?: number): Promise<void>
  /** Sends a signal. If the signal ends the process, resolves after its exit (a new one then starts). */
  kill(signal: NodeJS.Signals): Promise<void>
  /** Stops the process and keeps it stopped. Sends SIGTERM first, and SIGKILL after a timeout. */
  stop(options?: { signal?: NodeJS.Signals }): Promise<void>
}

const stopTimeoutMs = 15_000

/** Keeps a Node process running: it is restarted after each exit, with a delay that grows while it keeps exiting early. */
export function superviseProcess(dataDir: string, spec: ProcessSpec, log: Logger): Supervised {
  const runFile = join(dataDir, 'run', `${spec.name}.json`)
  let child: ChildProcess | undefined
  let wanted = false
  let readyPid: number | undefined
  let failures = 0
  let everReady = false
  let failed = false
  let stopping = new AbortController()

  function launch(): RunningProcess {
    const running = spawnLogged(dataDir, spec)
    const mine = running.process
    child = mine
    if (mine.pid) writeJson(runFile, { pid: mine.pid, startTime: getStartTime(mine.pid) ?? null })
    void untilReady(spec, () => child === mine && !ended(mine)).then((isReady) => {
      if (isReady) readyPid = mine.pid
    })
    return running
  }

  async function keepRunning(): Promise<void> {
    while (wanted) {
      const startedAt = Date.now()
      const { process: mine, exited } = launch()
      const exitText = await exited
      const wasReady = readyPid === mine.pid
      readyPid = undefined
      child = undefined
      rmSync(runFile, { force: true })
      if (!wanted) return
      everReady ||= wasReady
      if (!everReady && exitText.startsWith('exit code')) {
        // The first start fails at once with the error. Later ones are retried, because their dependencies may become available again.
        wanted = false
        failed = true
        return
      }
      failures = wasReady && Date.now() - startedAt > 5_000 ? 0 : failures + 1
      log.error({ process: spec.name, exit: exitText, failures }, 'a process ended, starting it again')
      // The first restart is immediate. The delay then grows, so that a process that cannot start does not use all CPU time.
      const pauseMs = failures <= 1 ? 50 : Math.min(10_000, 100 * 2 ** failures)
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined)
    }
  }

  async function whenReady(timeoutMs = 60_000): Promise<void> {
    const end = Date.now() + timeoutMs
    while (readyPid === undefined) {
      if (Date.now() > end) throw new Error(`${spec.name} is not ready after ${timeoutMs} ms${endOfLog()}`)
      if (failed) throw new Error(`${spec.name} does not start${endOfLog()}`)
      await delay(15)
    }
  }

  const endOfLog = () => `:\n${lastLogLines(dataDir, spec.name, 6).join('\n')}`

  return {
    pid: () => child?.pid,
    whenReady,
    async start() {
      if (wanted) return whenReady()
      wanted = true
      stopping = new AbortController()
      failed = false
      failures = 0
      void keepRunning()
      await whenReady()
    },
    async kill(signal) {
      if (child) await sendSignal(child, signal)
    },
    async stop({ signal = 'SIGTERM' } = {}) {
      wanted = false
      stopping.abort()
      if (!child || ended(child)) return
      await endChild(child, signal, () => log.warn({ process: spec.name }, 'does not stop, killing it'))
    },
  }
}

interface RunningProcess {
  process: ChildProcess
  /** The signal or the exit code. */
  exited: Promise<string>
}

/** The process has a session of its own, so that only the supervisor gets Ctrl-C. On Linux the kernel ends it with the supervisor. */
function spawnLogged(dataDir: string, spec: ProcessSpec): RunningProcess {
  const out = openLog(dataDir, spec.name)
  const [command = '', ...args] = endingWithParent('TERM', [process.execPath, ...spec.args])
  const mine = spawn(command, args, { cwd: spec.cwd, env: spec.env, stdio: ['ignore', out, out], detached: true })
  closeSync(out)
  const exited = new Promise<string>((resolve) => {
    mine.once('error', (error) => resolve(error.message))
    mine.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  return { process: mine, exited }
}

/** @returns whether it serves; false when it is not the current process any more */
async function untilReady(spec: ProcessSpec, isCurrent: () => boolean): Promise<boolean> {
  while (isCurrent()) {
    if (await spec.ready().catch(() => false)) return isCurrent()
    await delay(25)
  }
  return false
}

/** Resolves after the exit, if the signal ends the process. */
async function sendSignal(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  if (signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT') await exited
}

async function endChild(child: ChildProcess, signal: NodeJS.Signals, onLate: () => void): Promise<void> {
  const exited = new Promise((resolve) => child.once('exit', resolve))
  child.kill(signal)
  const late = await Promise.race([exited, delay(stopTimeoutMs, 'late', { ref: false })])
  if (late !== 'late') return
  onLate()
  child.kill('SIGKILL')
  await exited
}

/**
 * Ends the processes of a supervisor that was killed. The kernel signals them, but they may take some time to exit, and hold their ports until then.
 */
export async function endLeftovers(dataDir: string): Promise<void> {
  const directory = join(dataDir, 'run')
  if (!existsSync(directory)) return
  const names = readdirSync(directory).filter((name) => name.endsWith('.json'))
  await Promise.all(names.map((name) => endLeftover(join(directory, name))))
}

async function endLeftover(runFile: string): Promise<void> {
  const { pid, startTime } = readJson<{ pid: number; startTime: string | null }>(runFile)
  const same = () => pid !== undefined && isAlive(pid) && (getStartTime(pid) ?? null) === startTime
  if (pid === undefined || !same()) return
  process.kill(pid, 'SIGTERM')
  if (!(await waitUntil(() => !same(), 10_000))) process.kill(pid, 'SIGKILL')
  await waitUntil(() => !same(), 5_000)
}

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
