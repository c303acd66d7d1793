import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { raw, waitFor } from '@crux/test-kit'
import { agentDirectory, agentPid, getStatus } from '../node.ts'
import type { ChaosSystem } from './chaos-system.ts'
import { createRandom } from './random.ts'
import { type ChaosService, deployService } from './services.ts'
import { startWriters } from './writers.ts'

export interface ChaosReport {
  seed: number
  rounds: number
  kills: Record<string, number>
  /** Acknowledged and unanswered writes, and reads. */
  requests: { acknowledged: number; unanswered: number; reads: number }
  /** Violations of the guarantees; empty after a good run. */
  problems: string[]
}

/** The longest time that a release runs before the kills begin. */
const underWayMs = 2_500
const healthyMs = 90_000

/**
 * Kills random parts with SIGKILL, sometimes several at once, during writes, reads and releases. After each round, compares the stored data with the
 * acknowledged writes.
 */
export async function runChaos(
  testSystem: ChaosSystem,
  options: { seed: number; rounds: number; say: (line: string) => void },
): Promise<ChaosReport> {
  const { seed, rounds, say } = options
  const { testEnvironment } = testSystem
  const random = createRandom(seed)
  const kills: Record<string, number> = {}
  const problems: string[] = []
  const services = [await deployService(testSystem, { gated: true }), await deployService(testSystem, { gated: false })]
  const first = services[0]
  if (!first) throw new Error('there is no service')
  const parts = getParts(testSystem, services)
  const writers = startWriters(testEnvironment, createRandom(seed + 1), {
    writers: 3,
    readers: 2,
    image: first.service,
  })

  for (let round = 1; round <= rounds; round += 1) {
    for (const service of services) await service.redeploy()
    await delay(random.next() * underWayMs)
    const chosen = random.sample(Object.keys(parts), random.pick([1, 1, 2, 3]))
    // The supervisor is killed last, because the other processes are found through it.
    chosen.sort((left, right) => Number(left === 'supervisor') - Number(right === 'supervisor'))
    await Promise.all(
      chosen.map(async (name) => {
        kills[name] = (kills[name] ?? 0) + 1
        // A process that has just ended or is restarting does not have to be killed.
        await parts[name]?.().catch(() => undefined)
      }),
    )
    const began = performance.now()
    const found = await healthy(testSystem)
    const healthyAfter = performance.now() - began
    for (const service of services) found.push(...(await service.check().catch((error) => [String(error)])))
    found.push(...(await findUnexplained(testEnvironment.teamId, services)))
    say(`round ${round}: killed ${chosen.join(', ')}; healthy after ${(healthyAfter / 1_000).toFixed(1)} s`)
    for (const problem of found) say(`  ! ${problem}`)
    problems.push(...found.map((problem) => `round ${round}, ${chosen.join(', ')}: ${problem}`))
  }
  await writers.stop()
  problems.push(...writers.problems, ...(await writers.findLosses()))
  const total = Object.values(kills).reduce((sum, count) => sum + count, 0)
  const { acknowledged, unanswered, reads } = writers.counts
  say(
    `seed ${seed}: ${rounds} rounds, ${total} kills, ${acknowledged} writes acknowledged and ${unanswered} unanswered, ${reads} reads, ${problems.length} problems`,
  )
  return { seed, rounds, kills, requests: writers.counts, problems }
}

/** The function that kills each part, by its name. */
function getParts(testSystem: ChaosSystem, services: readonly ChaosService[]): Record<string, () => Promise<void>> {
  const killFile = (name: string) => async () => {
    const pid = Number(readFileSync(join(agentDirectory(testSystem), '.agent', 'gate', name), 'utf8'))
    if (pid > 1) process.kill(pid, 'SIGKILL')
  }
  return {
    supervisor: testSystem.killSupervisor,
    server: async () => testSystem.kill('server'),
    identity: async () => testSystem.kill('identity'),
    postgres: async () => testSystem.kill('postgres'),
    agent: async () => void process.kill(agentPid(testSystem), 'SIGKILL'),
    gate: killFile('gate.pid'),
    "the gate's parent": killFile('parent.pid'),
    ...Object.fromEntries(services.map(({ name, crash }) => [`the container of ${name}`, crash])),
  }
}

/** @returns the parts that did not recover by themselves */
async function healthy({ system, testEnvironment, ...testSystem }: ChaosSystem): Promise<string[]> {
  try {
    await testSystem.started()
    await waitFor('the server serves', async () => (await fetch(`${system.url}/health/ready`)).ok, {
      timeoutMs: healthyMs,
      everyMs: 50,
    })
    await waitFor(
      'the node is connected',
      async () => (await getStatus(testEnvironment, testEnvironment.nodeId)) === 'connected',
      {
        timeoutMs: healthyMs,
        everyMs: 50,
      },
    )
    await waitFor(
      'each part runs once',
      () => Object.values(testSystem.countProcesses()).every((count) => count === 1),
      {
        timeoutMs: healthyMs,
      },
    )
    return []
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
}

/** Each service has one container. The remains of a replaced release are deleted shortly after its end. */
async function findUnexplained(teamId: string, services: readonly ChaosService[]): Promise<string[]> {
  const expected = services.map(({ container }) => `/${container}`).sort()
  const list = async () => (await raw.list(`dev.crux.team=${teamId}`)).map(({ Names }) => Names[0] ?? '').sort()
  const isExpected = async () => JSON.stringify(await list()) === JSON.stringify(expected)
  return waitFor('the containers are those of the releases', isExpected, { timeoutMs: 30_000, everyMs: 200 }).then(
    () => [],
    async () => [`containers ${(await list()).join(' ')} where releases explain ${expected.join(' ')}`],
  )
}
