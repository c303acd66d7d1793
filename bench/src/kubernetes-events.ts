import { randomUUID } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kubernetesMissing, startOwnKubernetes, unique, waitFor } from '@crux/test-kit'
import { label, ownerLabels } from '../../apps/agent/src/engines/labels.ts'
import { printAndWait, toWorkload } from '../../apps/agent/test/kit/cluster.ts'
import { spawnAgent } from '../../apps/agent/test/kit/index.ts'
import { bundledAgent } from './bundled-agent.ts'
import { median, percentile, type Report } from './measure.ts'
import type { TestSystem } from './test-system.ts'
import { timeNow, watchPods } from './watch-pods.ts'

type Kubernetes = Awaited<ReturnType<typeof startOwnKubernetes>>
type Seen = { at: number; pods: ReadonlyMap<string, boolean> }

/**
 * Time from a pod's event in a plain watch to the message in a browser's socket, while pods become ready and are deleted. The API writes whole
 * seconds into its events, so that a watch beside the agent's takes their time.
 */
export async function podEventLatency(testSystem: TestSystem, report: Report, rounds: number): Promise<void> {
  const name = 'pod event to the message in the socket, p95'
  const missing = kubernetesMissing()
  if (missing) return report.skipped(name, missing)
  const kubernetes = await startOwnKubernetes()
  const prefix = unique('events')
  try {
    const { end, nodeId } = await connectCluster(testSystem, kubernetes)
    try {
      await createWorkload(testSystem, kubernetes, { nodeId, prefix })
      const delays = await measure(testSystem, kubernetes, { nodeId, prefix, rounds })
      const details = `p50 ${median(delays).toFixed(1)} ms, ${delays.length} changes`
      report.number(name, percentile(delays, 95), 'ms', '<= 60', details)
    } finally {
      await end()
    }
  } finally {
    await kubernetes.run('delete', 'namespace', prefix, '--ignore-not-found', '--wait=false')
    await kubernetes.stop()
  }
}

/** A node of the test's team whose agent is the bundle, outside of the cluster. */
async function connectCluster({ system, testEnvironment }: TestSystem, { kubeconfig }: Kubernetes) {
  const { teamSlug, user } = testEnvironment
  const { call } = user.client
  const node = await call('nodes.create', { params: { teamSlug }, body: { name: unique('cluster-') } })
  const inNode = { teamSlug, nodeId: node.id }
  const { command } = await call('nodes.create-script', {
    params: inNode,
    body: { type: 'k8s', scriptType: 'shell' },
  })
  const token = /Bearer %s"\\n' '([^']+)'/.exec(command)?.[1]
  if (!token) throw new Error('the command has no token')
  const dataDir = await mkdtemp(join(tmpdir(), 'crux-bench-agent-'))
  const agent = spawnAgent({ url: system.url }, { ...bundledAgent(), dataDir, token, nodeId: node.id, kubeconfig })
  const end = async () => {
    agent.child.kill()
    await agent.exited
    await rm(dataDir, { recursive: true, force: true })
  }
  try {
    await waitFor(
      'the agent is connected',
      async () => (await call('nodes.get', { params: inNode })).status === 'connected',
      {
        timeoutMs: 30_000,
      },
    )
  } catch (error) {
    await end()
    throw new Error(agent.output(), { cause: error })
  }
  return { nodeId: node.id, end }
}

async function createWorkload(
  { testEnvironment: { teamId } }: TestSystem,
  { run }: Kubernetes,
  { nodeId, prefix }: { nodeId: string; prefix: string },
): Promise<void> {
  const labels = {
    ...ownerLabels({ teamId, projectId: randomUUID(), nodeId, prefix }),
    [label.name]: 'web',
    [label.instance]: randomUUID(),
  }
  const directory = await mkdtemp(join(tmpdir(), 'crux-bench-events-'))
  const file = join(directory, 'workload.json')
  await writeFile(file, JSON.stringify(toWorkload(prefix, 'web', printAndWait(['ready']), { labels, replicas: 0 })))
  await run('create', 'namespace', prefix)
  await run('apply', '-f', file)
  await rm(directory, { recursive: true })
}

async function measure(
  { testEnvironment: { teamSlug, user } }: TestSystem,
  kubernetes: Kubernetes,
  { nodeId, prefix, rounds }: { nodeId: string; prefix: string; rounds: number },
): Promise<number[]> {
  const shown: Seen[] = []
  const live = user.live()
  const channel = live.channel('node', { teamSlug, nodeId })
  channel.on('containers-state-list', ({ containers }) => {
    const at = timeNow()
    const pods = containers.find(({ managed }) => managed?.prefix === prefix)?.pods?.items ?? []
    shown.push({ at, pods: new Map(pods.map((pod) => [pod.name, pod.ready])) })
  })
  channel.onReady(() => channel.send('watch-containers-state', { prefix }))
  const watched = await collectPods(kubernetes, prefix)
  try {
    await waitFor('the first list', () => shown.length > 0)
    const delays: number[] = []
    for (let round = 0; round < rounds; round += 1)
      for (const replicas of [1, 0]) {
        const wanted = ({ pods }: Seen) => (replicas === 1 ? [...pods.values()].includes(true) : pods.size === 0)
        const before = { shown: shown.length, watched: watched.seen.length }
        await kubernetes.run('scale', 'deployment/web', '--namespace', prefix, '--replicas', String(replicas))
        const find = () => ({
          message: shown.slice(before.shown).find(wanted),
          event: watched.seen.slice(before.watched).find(wanted),
        })
        await waitFor(`both have ${replicas} pods`, () => Boolean(find().message && find().event), { everyMs: 5 })
        const { event, message } = find()
        if (event && message) delays.push(message.at - event.at)
      }
    return delays
  } finally {
    watched.end()
    live.close()
  }
}

/** The pods of a namespace after each event. */
async function collectPods({ kubeconfig }: Kubernetes, namespace: string) {
  const seen: Seen[] = []
  let pods = new Map<string, boolean>()
  const { end } = await watchPods(kubeconfig, namespace, ({ at, object, type }) => {
    pods = new Map(pods)
    if (type === 'DELETED') pods.delete(object.metadata.name)
    else pods.set(object.metadata.name, object.status.containerStatuses[0]?.ready === true)
    seen.push({ at, pods })
  })
  return { seen, end }
}
