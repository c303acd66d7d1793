import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { waitFor } from '@crux/test-kit'
import { median, now, type Report } from './measure.ts'
import { readProcesses } from './processes.ts'
import type { TestSystem } from './test-system.ts'

export const rssMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024

/** The agent that the server supervises for this testSystem's node. */
export function agentPid(testSystem: TestSystem): number {
  for (const { pid, words, environment } of readProcesses())
    if (/agent\.mjs|apps\/agent/.test(words) && environment.includes(testSystem.system.dataDir)) return pid
  throw new Error('no agent process found')
}

export async function memory(testSystem: TestSystem, report: Report): Promise<void> {
  await delay(10_000)
  report.number('idle RSS of the agent', rssMb(agentPid(testSystem)), 'MB', '<= 95')
  const server = rssMb(testSystem.system.pid('server') ?? 0)
  const identity = rssMb(testSystem.system.pid('identity') ?? 0)
  report.number(
    'idle RSS of server and identity',
    server + identity,
    'MB',
    '<= 300',
    `server ${server.toFixed(0)}, identity ${identity.toFixed(0)}`,
  )
}

/** Bytes in both directions on the agent's connection while it is idle. */
export async function idleLink(testSystem: TestSystem, report: Report, seconds: number): Promise<void> {
  const pid = agentPid(testSystem)
  const read = () => {
    const text = execFileSync('ss', ['-tinpH', 'state', 'established'], { encoding: 'utf8' })
    let bytes = 0
    const rows = text.split('\n')
    rows.forEach((row, index) => {
      if (!row.includes(`pid=${pid},`)) return
      const detail = `${row} ${rows[index + 1] ?? ''}`
      bytes += Number(/bytes_sent:(\d+)/.exec(detail)?.[1] ?? 0) + Number(/bytes_received:(\d+)/.exec(detail)?.[1] ?? 0)
    })
    return bytes
  }
  await delay(2_000)
  const before = read()
  await delay(seconds * 1_000)
  report.number(
    'idle link of an agent',
    (read() - before) / seconds,
    'bytes/s',
    '<= 20',
    `TCP payload both ways over ${seconds} s`,
  )
}

/** A server that restarts with 300 ms of downtime: from its readiness until the node counts as connected again. */
export async function agentBack(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const { system, testEnvironment } = testSystem
  const { nodeId, user, teamSlug } = testEnvironment
  const { client } = user
  const took: number[] = []
  for (let round = 0; round < rounds; round++) {
    await system.restart('server', { pauseMs: 300 })
    const ready = now()
    const isConnected = async () =>
      (await client.call('nodes.get', { params: { teamSlug, nodeId } })).status === 'connected'
    await waitFor('the node is connected', isConnected, { everyMs: 10, timeoutMs: 60_000 })
    took.push(now() - ready)
  }
  report.number(
    'agent back after a server restart of 300 ms',
    median(took) / 1_000,
    's',
    '<= 1',
    took.map((ms) => `${Math.round(ms)} ms`).join(', '),
  )
}
