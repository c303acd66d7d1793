import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isAlive, removeEmbedded } from '@crux/postgres'
import {
  createTestEnvironment,
  freePort,
  type Registry,
  removeContainers,
  signUp,
  startRegistry,
  type TestEnvironment,
  waitFor,
} from '@crux/test-kit'
import { getPid, processTree, type RunningProcess, runningProcesses, startInstallation } from '../installation.ts'

/** The system of `npm start` in separate processes, so that the supervisor can be killed like every other part. */
export interface ChaosSystem {
  system: { url: string; dataDir: string }
  registry: Registry
  testEnvironment: TestEnvironment
  kill(part: keyof typeof commands): void
  /** Kills the supervisor and restarts it at once, as an init system does; `started` rejects when that start fails. */
  killSupervisor(): Promise<void>
  /**
   * Resolves when the last start of the supervisor is complete.
   *
   * @throws when it failed
   */
  started(): Promise<void>
  /** The number of processes per part; each must be one. */
  countProcesses(): Record<string, number>
  end(): Promise<void>
}

/** The command lines and working directories that identify the processes below the supervisor. */
const commands = {
  server: /in .*apps\/server$/,
  identity: /in .*apps\/identity$/,
  postgres: /bin\/postgres /,
}

export async function startChaosSystem(): Promise<ChaosSystem> {
  const registry = await startRegistry()
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-chaos-'))
  const ports = [await freePort(), await freePort(), await freePort()]
  let current = await startInstallation(dataDir, ports)
  let starting: Promise<void> = Promise.resolve()
  const testEnvironment = await createTestEnvironment(await signUp(current.url), registry)

  const find = (part: keyof typeof commands) =>
    processTree(getPid(current)).find(({ description }) => commands[part].test(description))

  function countProcesses() {
    const descriptions = listProcesses(dataDir).map(({ description }) => description)
    const count = (part: RegExp) => descriptions.filter((description) => part.test(description)).length
    return {
      supervisor: count(/scripts\/start/),
      server: count(commands.server),
      identity: count(commands.identity),
    }
  }

  async function end(): Promise<void> {
    await starting.catch(() => undefined)
    if (isAlive(getPid(current))) process.kill(getPid(current), 'SIGTERM')
    await waitFor('Crux has stopped', () => Object.values(countProcesses()).every((count) => count === 0), {
      timeoutMs: 60_000,
    })
    // The gate outlives all of them by design.
    for (const { pid } of listProcesses(dataDir)) if (isAlive(pid)) process.kill(pid, 'SIGKILL')
    await removeContainers(`dev.crux.team=${testEnvironment.teamId}`)
    removeEmbedded({ dataDir })
    await rm(dataDir, { recursive: true, force: true })
    await registry.remove()
  }

  return {
    system: { url: current.url, dataDir },
    registry,
    testEnvironment,
    kill(part) {
      const found = find(part)
      if (found) process.kill(found.pid, 'SIGKILL')
    },
    async killSupervisor() {
      const { supervisor } = current
      const exited = new Promise((resolve) => supervisor.once('exit', resolve))
      supervisor.kill('SIGKILL')
      await exited
      starting = startInstallation(dataDir, ports).then((started) => {
        current = started
      })
      // The result is awaited together with the other parts that have to become healthy.
      starting.catch(() => undefined)
    },
    started: () => starting,
    countProcesses,
    end,
  }
}

/** Includes orphaned processes, but not PostgreSQL, which itself refuses to run twice on one cluster. */
function listProcesses(dataDir: string): RunningProcess[] {
  return runningProcesses().filter(({ pid, description }) => {
    try {
      return description.includes(dataDir) || readFileSync(`/proc/${pid}/environ`, 'utf8').includes(dataDir)
    } catch {
      // The process ended in the meantime.
      return false
    }
  })
}
