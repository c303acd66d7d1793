import { type ChildProcess, spawn } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endingWithParent } from '@crux/postgres/embedded'
import { waitFor } from '@crux/test-kit'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** What `npm start` runs, in a process group of its own, as a terminal has it. */
export interface Installation {
  supervisor: ChildProcess
  url: string
}

/** @param ports of the console, and of the identity service's two sides */
export async function startInstallation(dataDir: string, ports: readonly number[]): Promise<Installation> {
  // With the test that started it: one that is killed must not leave a whole installation behind.
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

export function pidOf({ supervisor }: Installation): number {
  if (!supervisor.pid) throw new Error('the supervisor did not start')
  return supervisor.pid
}

export interface RunningProcess {
  pid: number
  /** Command line and working directory: server and identity service differ in the latter alone. */
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
      // It ended meanwhile.
      return []
    }
  })
}

/** The supervisor and everything that it started: server, identity service, PostgreSQL and the agent. */
export function processTree(root: number): RunningProcess[] {
  const running = runningProcesses()
  const below = (parent: number): RunningProcess[] =>
    running.filter((one) => one.parent === parent).flatMap((one) => [one, ...below(one.pid)])
  return [...running.filter(({ pid }) => pid === root), ...below(root)]
}
