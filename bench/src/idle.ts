import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { removeEmbedded } from '@crux/postgres'
import { createTestEnvironment, freePort, removeContainers, signUp, startRegistry, waitFor } from '@crux/test-kit'
import type { Report } from './measure.ts'
import { readProcesses } from './processes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
/**
 * V8 collects the garbage of the start for some three minutes: at one minute an idle server uses 0.1 % of a core, at two and three up to
 * 0.5, then 0.1.
 */
const restMs = 240_000
const ticksPerSecond = 100

/** The cost of a whole idle installation: supervisor, PostgreSQL, identity, server, and the agent of this machine. */
export async function idle(report: Report, seconds: number): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-bench-'))
  const registry = await startRegistry()
  const port = await freePort()
  const supervisor = spawn(process.execPath, ['scripts/start.mjs', '--no-docker'], {
    cwd: root,
    env: {
      ...process.env,
      CRUX_DATA_DIR: dataDir,
      CRUX_PORT: String(port),
      IDENTITY_PUBLIC_PORT: String(await freePort()),
      IDENTITY_ADMIN_PORT: String(await freePort()),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let teamId = ''
  try {
    await ready(supervisor)
    const testEnvironment = await createTestEnvironment(await signUp(`http://localhost:${port}`), registry)
    teamId = testEnvironment.teamId
    await delay(restMs)
    const before = installation(supervisor.pid ?? 0, dataDir)
    await delay(seconds * 1_000)
    const after = installation(supervisor.pid ?? 0, dataDir)
    const percent = new Map<string, number>()
    const megabytes = new Map<string, number>()
    const add = (sums: Map<string, number>, name: string, value: number) =>
      sums.set(name, (sums.get(name) ?? 0) + value)
    for (const [pid, { name, ticks, pssMb }] of after) {
      add(percent, name, ((ticks - (before.get(pid)?.ticks ?? 0)) / ticksPerSecond / seconds) * 100)
      add(megabytes, name, pssMb)
    }
    report.number('idle-cpu', sum(percent), '%', '<= 0.3', `of one core over ${seconds} s: ${parts(percent, 2)}`)
    const detail = `PSS of ${after.size} processes: ${parts(megabytes, 0)}`
    report.number('idle-memory', sum(megabytes), 'MB', '<= 400', detail)
  } finally {
    supervisor.kill('SIGTERM')
    if (supervisor.exitCode === null) await new Promise((resolve) => supervisor.once('exit', resolve))
    if (teamId) await removeContainers(`dev.crux.team=${teamId}`)
    removeEmbedded({ dataDir })
    await rm(dataDir, { recursive: true, force: true })
    await registry.remove()
  }
}

async function ready(supervisor: ChildProcess): Promise<void> {
  let output = ''
  supervisor.stdout?.on('data', (chunk: Buffer) => {
    output += String(chunk)
  })
  await waitFor(
    'Crux is ready',
    () => {
      if (supervisor.exitCode !== null) throw new Error(output)
      return output.includes('Crux is ready')
    },
    { timeoutMs: 240_000 },
  )
}

interface Measured {
  name: string
  ticks: number
  pssMb: number
}

/** The supervisor with all its descendants, and the processes for this data directory in a session of their own. */
function installation(supervisor: number, dataDir: string): Map<number, Measured> {
  const all = new Map(readProcesses().map((process) => [process.pid, process]))
  const isOurs = (pid: number): boolean => {
    const process = all.get(pid)
    if (!process) return false
    if (pid === supervisor || process.environment.includes(dataDir) || process.words.includes(dataDir)) return true
    return isOurs(process.parent)
  }
  const found = new Map<number, Measured>()
  for (const [pid, { ticks, words, directory }] of all) {
    if (!isOurs(pid)) continue
    try {
      const pss = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1]
      found.set(pid, { name: getName(words, directory), ticks, pssMb: Number(pss) / 1_024 })
    } catch {
      // The process ended in the meantime.
    }
  }
  return found
}

function getName(words: string, directory: string): string {
  if (words.includes('postgres')) return 'PostgreSQL'
  if (/agent\.mjs|agent\/src\/main/.test(words)) return 'agent'
  return /apps\/(identity|server)$/.exec(directory)?.[1] ?? 'supervisor'
}

const sum = (values: ReadonlyMap<string, number>) => [...values.values()].reduce((total, value) => total + value, 0)
const parts = (values: ReadonlyMap<string, number>, digits: number) =>
  [...values].map(([name, value]) => `${name} ${value.toFixed(digits)}`).join(', ')
