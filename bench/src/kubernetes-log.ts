import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { createLogger } from '@crux/service-kit'
import { kubernetesImage, kubernetesMissing, startOwnKubernetes, unique } from '@crux/test-kit'
import { openCluster } from '../../apps/agent/src/engines/kubernetes/client/open-cluster.ts'
import {
  createWorkloadView,
  type WorkloadView,
} from '../../apps/agent/src/engines/kubernetes/workloads/workload-view.ts'
import { interleave, now, type Report } from './measure.ts'

type Kubernetes = Awaited<ReturnType<typeof startOwnKubernetes>>

const lines = 200_000
/** Prints that it is ready, and writes all lines on request. */
const script = `trap 'seq 1 ${lines}' USR1; trap 'exit 0' TERM; echo ready; while :; do sleep 3600 & wait; done`

/** Texts of lines as they arrive, until the log is closed. */
interface FollowedLog {
  texts: AsyncIterable<readonly string[]>
  close(): void
}

/**
 * A log of 200,000 lines through the engine, against `kubectl logs -f`, in lines per second: while the lines are written, from the first one
 * that arrives, and as a whole that exists already, from the request. The engine needs the time of each line, for which the node sends five
 * times as many bytes, so that a peer that asks for times too shows what is the engine's own.
 */
export async function kubernetesLog(report: Report, rounds: number): Promise<void> {
  const name = 'following a log of 200,000 lines on Kubernetes / kubectl logs -f'
  const missing = kubernetesMissing()
  if (missing) return report.skipped(name, missing)
  const kubernetes = await startOwnKubernetes()
  const namespace = unique('log')
  const cluster = await openCluster({
    kubeconfig: kubernetes.kubeconfig,
    log: createLogger({ name: 'bench', level: 'silent' }),
  })
  const view = createWorkloadView(cluster, createLogger({ name: 'bench', level: 'silent' }))
  try {
    await kubernetes.run('create', 'namespace', namespace)
    const wholes: Record<'ours' | 'theirs' | 'timed', number[]> = { ours: [], theirs: [], timed: [] }
    const measure = (side: 'ours' | 'theirs' | 'timed', open: (workload: Workload) => FollowedLog) => async () => {
      const workload = await startWorkload(kubernetes, namespace)
      const live = await readLive(kubernetes, workload, open(workload))
      wholes[side].push(await readWhole(() => open(workload)))
      await kubernetes.run('delete', 'deployment', workload.name, '--namespace', namespace, '--wait=false')
      return live
    }
    const lives = await interleave(rounds, {
      ours: measure('ours', (workload) => followThroughEngine(view, workload)),
      theirs: measure('theirs', (workload) => followByKubectl(kubernetes, workload)),
      timed: measure('timed', (workload) => followByKubectl(kubernetes, workload, '--timestamps')),
    })
    for (const [what, sides] of [
      [name, lives],
      ['the same log when it exists already / kubectl logs -f', wholes],
    ] as const) {
      report.ratio(what, sides, '>= 1', 'lines/s')
      report.ratio('of it, with --timestamps', { ours: sides.ours, theirs: sides.timed }, undefined, 'lines/s')
    }
  } finally {
    view.close()
    cluster.close()
    await kubernetes.run('delete', 'namespace', namespace, '--ignore-not-found', '--wait=false')
    await kubernetes.stop()
  }
}

interface Workload {
  namespace: string
  name: string
  uid: string
}

/** A workload of its own for each round, because a node begins another file after 10 MB. */
async function startWorkload({ run }: Kubernetes, namespace: string): Promise<Workload> {
  const name = unique('log')
  const at = ['--namespace', namespace] as const
  await run('create', 'deployment', name, ...at, '--image', kubernetesImage, '--', '/bin/sh', '-c', script)
  await run('rollout', 'status', 'deployment', name, ...at)
  return { namespace, name, uid: await run('get', 'deployment', name, ...at, '-o', 'jsonpath={.metadata.uid}') }
}

function followThroughEngine(view: WorkloadView, { uid }: Workload): FollowedLog {
  const closing = new AbortController()
  const read = async function* () {
    await view.list({})
    const log = view.readLog(uid, { take: undefined, follow: true, signal: closing.signal })
    for await (const batch of log) yield batch.map(({ text }) => text)
  }
  return { texts: read(), close: () => closing.abort() }
}

function followByKubectl(
  { kubeconfig, kubectl }: Kubernetes,
  { name, namespace }: Workload,
  ...options: string[]
): FollowedLog {
  const parameters = [
    'logs',
    '-f',
    ...options,
    `deployment/${name}`,
    '--namespace',
    namespace,
    '--kubeconfig',
    kubeconfig,
  ]
  const child = spawn(kubectl, parameters, { stdio: ['ignore', 'pipe', 'inherit'] })
  const read = async function* () {
    const reader = createInterface({ input: child.stdout })
    for await (const line of reader) yield [line.slice(line.lastIndexOf(' ') + 1)]
    await once(child, 'exit')
  }
  return { texts: read(), close: () => child.kill() }
}

async function readLive({ run }: Kubernetes, { name, namespace }: Workload, log: FollowedLog): Promise<number> {
  let first = 0
  let count = 0
  let writing: Promise<unknown> | undefined
  for await (const texts of log.texts) {
    // The log is read meanwhile: lines that a pipe collects before the clock runs would count as read at once.
    if (texts.includes('ready'))
      writing ??= run('exec', `deployment/${name}`, '--namespace', namespace, '--', '/bin/kill', '-USR1', '1')
    const numbered = texts.filter((text) => Number(text) > 0).length
    if (numbered > 0) first ||= now()
    count += numbered
    if (count >= lines) break
  }
  const took = now() - first
  log.close()
  await writing
  return count / (took / 1_000)
}

async function readWhole(open: () => FollowedLog): Promise<number> {
  const begun = now()
  const log = open()
  let count = 0
  for await (const texts of log.texts) {
    count += texts.filter((text) => Number(text) > 0).length
    if (count >= lines) break
  }
  const took = now() - begun
  log.close()
  return count / (took / 1_000)
}
