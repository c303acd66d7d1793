import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * Whether a process runs. A zombie does not: where no process reaps it, its id answers signals forever. A process whose first thread has ended while
 * others are still exiting counts as running, because it holds its files and ports.
 */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EPERM')) return false
  }
  const status = getStatus(pid)
  return status?.state !== 'Z' || status.threads > 1
}

/** The start time of a process in kernel ticks; undefined where there is no /proc. */
export function getStartTime(pid: number): string | undefined {
  return getStatus(pid)?.startTime
}

/** The processes of a cluster: the working directory of the postmaster and its backends is its data directory. */
export function processesIn(directory: string): number[] {
  let target: string
  try {
    target = realpathSync(directory)
  } catch {
    return []
  }
  return entriesOfProc().filter((pid) => {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === target && isAlive(pid)
    } catch {
      return false
    }
  })
}

/** Polls a condition; true when it became true in time. */
export async function waitUntil(condition: () => boolean, timeoutMs: number): Promise<boolean> {
  const end = Date.now() + timeoutMs
  while (!condition()) {
    if (Date.now() > end) return false
    await delay(20)
  }
  return true
}

/**
 * The command line with which the kernel signals a process when this one ends for any reason (Linux). On other systems, and without setpriv, the
 * command itself: the next start then ends orphaned processes.
 *
 * @param privileges further options of setpriv(1), applied first, because the kernel resets the signal when credentials change
 */
export function endingWithParent(name: 'INT' | 'TERM', command: string[], privileges: string[] = []): string[] {
  const setpriv = ['/usr/bin/setpriv', '/bin/setpriv'].find((path) => existsSync(path))
  return setpriv ? [setpriv, ...privileges, '--pdeathsig', name, '--', ...command] : command
}

export function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // The process has already ended.
  }
}

function entriesOfProc(): number[] {
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger)
  } catch {
    return []
  }
}

/** proc(5): the command may contain spaces and brackets, so fields are counted from its last closing bracket. */
function getStatus(pid: number): { state: string; startTime: string; threads: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    return { state: fields[0] ?? '', startTime: fields[19] ?? '', threads: Number(fields[17]) }
  } catch {
    return undefined
  }
}
