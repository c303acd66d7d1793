import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { endingWithParent, isAlive, startTimeOf, waitUntil } from '@crux/postgres/embedded'
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
  let wake: (() => void) | undefined

  function launch(): { process: ChildProcess; exited: Promise<string> } {
    const out = openLog(dataDir, spec.name)
    // The process has a session of its own, so that only the supervisor gets Ctrl-C. On Linux the kernel ends it with the supervisor.
    const [command = '', ...args] = endingWithParent('TERM', [process.execPath, ...spec.args])
    const mine = spawn(command, args, { cwd: spec.cwd, env: spec.env, stdio: ['ignore', out, out], detached: true })
    closeSync(out)
    child = mine
    if (mine.pid) writeJson(runFile, { pid: mine.pid, startTime: startTimeOf(mine.pid) ?? null })
    const exited = new Promise<string>((resolve) => {
      mine.once('error', (error) => resolve(error.message))
      mine.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
    })
    void becomeReady(mine)
    return { process: mine, exited }
  }

  async function becomeReady(mine: ChildProcess): Promise<void> {
    while (child === mine && !ended(mine)) {
      if (await spec.ready().catch(() => false)) {
        if (child === mine && !ended(mine)) readyPid = mine.pid
        return
      }
      await delay(25)
    }
  }

  async function keepRunning(): Promise<void> {
    while (wanted) {
      const startedAt = Date.now()
      const { process: mine, exited } = launch()
      const words = await exited
      const wasReady = readyPid === mine.pid
      readyPid = undefined
      child = undefined
      rmSync(runFile, { force: true })
      if (!wanted) return
      everReady ||= wasReady
      if (!everReady && words.startsWith('exit code')) {
        // The first start fails at once with the error. Later ones are retried, because their dependencies may become available again.
        wanted = false
        failed = true
        return
      }
      failures = wasReady && Date.now() - startedAt > 5_000 ? 0 : failures + 1
      log.error({ process: spec.name, exit: words, failures }, 'a process ended, starting it again')
      // The first restart is immediate. The delay then grows, so that a process that cannot start does not use all CPU time.
      await pause(failures <= 1 ? 50 : Math.min(10_000, 100 * 2 ** failures))
    }
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
      failed = false
      failures = 0
      void keepRunning()
      await whenReady()
    },
    async kill(signal) {
      const mine = child
      if (!mine) return
      const exited = new Promise((resolve) => mine.once('exit', resolve))
      mine.kill(signal)
      if (signal === 'SIGKILL' || signal === 'SIGTERM' || signal === 'SIGINT') await exited
    },
    async stop({ signal = 'SIGTERM' } = {}) {
      wanted = false
      wake?.()
      const mine = child
      if (!mine || ended(mine)) return
      const exited = new Promise((resolve) => mine.once('exit', resolve))
      mine.kill(signal)
      const late = await Promise.race([exited, delay(stopTimeoutMs, 'late', { ref: false })])
      if (late === 'late') {
        log.warn({ process: spec.name }, 'does not stop, killing it')
        mine.kill('SIGKILL')
        await exited
      }
    },
  }
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
  const same = () => pid !== undefined && isAlive(pid) && (startTimeOf(pid) ?? null) === startTime
  if (pid === undefined || !same()) return
  process.kill(pid, 'SIGTERM')
  if (!(await waitUntil(() => !same(), 10_000))) process.kill(pid, 'SIGKILL')
  await waitUntil(() => !same(), 5_000)
}

function ended(child: ChildProcess): boolean {
  return child.exitCode !== null || child.signalCode !== null
}
