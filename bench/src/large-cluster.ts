import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { toKubeconfig } from '../../apps/agent/test/kit/cluster.ts'
import { startSimulatedApi } from '../../apps/agent/test/kit/simulated-api.ts'
import { rssMb } from './agent-at-rest.ts'
import { startBundledAgent } from './bundled-agent.ts'
import { median, percentile, type Report, timed } from './measure.ts'

type BundledAgent = Awaited<ReturnType<typeof startBundledAgent>>

/** The agent of a cluster that only answers lists and watches, with as many pods as wanted. */
async function withLargeCluster(
  pods: number,
  use: (agent: BundledAgent, list: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'crux-bench-cluster-'))
  const api = await startSimulatedApi({ pods })
  try {
    const kubeconfig = join(directory, 'kubeconfig')
    await writeFile(kubeconfig, toKubeconfig({ server: api.server, 'insecure-skip-tls-verify': true }, {}))
    // The owner of the simulated objects.
    const agent = await startBundledAgent({ kubeconfig, teamId: 'team-1', nodeId: 'node-1' })
    const list = async () => {
      const count = await agent.list('big')
      if (count !== api.deployments) throw new Error(`a list of ${count} in place of ${api.deployments}`)
    }
    try {
      await use(agent, list)
    } finally {
      await agent.end()
    }
  } finally {
    await api.stop()
    await rm(directory, { recursive: true, force: true })
  }
}

/** The memory of an agent at rest that watches 500 pods, of which each has 12 kB in the API. */
export async function watchedCluster(report: Report): Promise<void> {
  await withLargeCluster(500, async ({ pid }, list) => {
    const before = rssMb(pid)
    await list()
    await delay(10_000)
    report.number(
      'idle RSS of an agent that watches 500 pods',
      rssMb(pid),
      'MB',
      '<= 140',
      `${before.toFixed(0)} MB before it was asked for them`,
    )
  })
}

/** From the command on the link to the answer, at an agent that has read nothing of its cluster yet. */
export async function firstClusterList(report: Report, rounds: number): Promise<void> {
  const first: number[] = []
  const second: number[] = []
  for (let round = 0; round < rounds; round += 1)
    await withLargeCluster(5_000, async (_agent, list) => {
      first.push(await timed(list))
      second.push(await timed(list))
    })
  report.number(
    'first list of a cluster with 5,000 pods',
    median(first) / 1_000,
    's',
    '<= 2',
    `p95 ${Math.round(percentile(first, 95))} ms, the next one ${median(second).toFixed(1)} ms, ${rounds} rounds`,
  )
}
