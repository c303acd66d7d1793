import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endingWithParent } from '@crux/postgres/embedded'
import { waitFor } from '@crux/test-kit'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The processes of `npm start` in a process group of their own, as in a terminal. */
export interface Installation {
  supervisor: ChildProcess
  url: string
}

/** @param ports of the console, and of the two APIs of the identity service */
export async function startInstallation(dataDir: string, ports: readonly number[]): Promise<Installation> {
  // The installation ends with the test process, so that a killed test does not leave it behind.
  const [command = '', ...args] = endingWithParent('TERM', [process.execPath, 'scripts/start.ts'])
  const supervisor = spawn(command, args, {
    cwd: root,
    detached: true,
    env: {
      ...process.env,
      CRUX_DATA_DIR: dataDir,
      CRUX_PORT: String(ports[0]),
      IDENTITY_PUBLIC_PORT: String(ports[1]),
      IDENTITY_ADMIN_PORT: String(ports[2]),
      CRUX_RATE_LIMITS: 'off',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [supervisor.stdout, supervisor.stderr])
    stream.on('data', (chunk: Buffer) => {
      output += String(chunk)
    })
  await waitFor(
    'Crux is ready',
    () => {
      if (supervisor.exitCode !== null || supervisor.signalCode !== null) throw new Error(output)
      return output.includes('Crux is ready')
    },
    { timeoutMs: 240_000, everyMs: 50 },
  )
  return { supervisor, url: `http://localhost:${ports[0]}` }
}

export function getPid({ supervisor }: Installation): number {
  if (!supervisor.pid) throw new Error('the supervisor did not start')
  return supervisor.pid
}

export interface RunningProcess {
  pid: number
  /** Command line and working directory. Server and identity service differ only in the latter. */
  description: string
}

export function runningProcesses(): (RunningProcess & { parent: number })[] {
  return readdirSync('/proc').flatMap((name) => {
    const pid = Number(name)
    if (!Number.isInteger(pid)) return []
    try {
      const parent = Number(/^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      return [{ pid, parent, description: `${command} in ${readlinkSync(`/proc/${pid}/cwd`)}` }]
    } catch {
      // The process ended in the meantime.
      return []
    }
  })
}

/** The supervisor and all processes that it started: server, identity service, PostgreSQL and the agent. */
export function processTree(root: number): RunningProcess[] {
  const running = runningProcesses()
  const below = (parent: number): RunningProcess[] =>
    running.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return [...running.filter(({ pid }) => pid === root), ...below(root)]
}
