import { create, type MessageInitShape } from '@bufbuild/protobuf'
import { timestampFromMs } from '@bufbuild/protobuf/wkt'
import {
  type Container,
  ContainerSchema,
  ContainerState,
  type ExternalAddressesSchema,
  type PodSchema,
} from '@crux/agent-protocol'
import { label } from '../../labels.ts'
import { splitReference } from '../../split-reference.ts'
import type { AddressRecord } from './external-addresses.ts'
import type { PodRecord, PodState, WorkloadRecord } from './records.ts'

const states: Readonly<Record<PodState, ContainerState>> = {
  running: ContainerState.RUNNING,
  waiting: ContainerState.WAITING,
  exited: ContainerState.EXITED,
}

/** More pods of one workload are counted, not listed: a workload of Crux has up to 100. */
const podsMax = 100

interface Summary {
  state: PodState
  reason: string
  exitCode?: number | undefined
  startedAt?: number | undefined
}

/** Prefix and short name of a workload of ours; any other is known by its namespace and name, since names repeat in other namespaces. */
export function toRef({ labels, name, namespace }: Pick<WorkloadRecord, 'labels' | 'name' | 'namespace'>): {
  prefix: string
  name: string
} {
  const prefix = labels[label.prefix]
  return prefix === undefined
    ? { prefix: '', name: `${namespace}/${name}` }
    : { prefix, name: labels[label.name] ?? name }
}

/** A workload with its pods as one container of the server's pages. */
export function toWorkloadRow(
  workload: WorkloadRecord,
  pods: readonly PodRecord[],
  externalAddresses: readonly AddressRecord[] = [],
): Container {
  const { command, createdAt, image, labels, ports, uid } = workload
  return toRow({ uid, ref: toRef(workload), createdAt, image, pods }, summarize(workload, pods), {
    command,
    isJob: workload.kind === 'Job',
    labels,
    ports: ports.map((port) => ({ ...port, external: 0 })),
    externalAddresses: externalAddresses.map(({ addresses, type }) => ({ type, addresses: [...addresses] })),
  })
}

/** The pods of a workload that this agent does not know, or a pod without one. */
export function toForeignRow(
  { name, namespace, uid }: { name: string; namespace: string; uid: string },
  pods: readonly PodRecord[],
): Container {
  const createdAt = Math.min(...pods.map((pod) => pod.createdAt))
  const ref = { prefix: '', name: `${namespace}/${name}` }
  return toRow({ uid, ref, createdAt, image: pods[0]?.image ?? '', pods }, summarizePods(pods, pods.length), {})
}

function toRow(
  known: {
    uid: string
    ref: { prefix: string; name: string }
    createdAt: number
    image: string
    pods: readonly PodRecord[]
  },
  { exitCode, reason, startedAt, state }: Summary,
  more: {
    command?: string
    isJob?: boolean
    labels?: Record<string, string>
    ports?: { internal: number; external: number; protocol: string }[]
    externalAddresses?: MessageInitShape<typeof ExternalAddressesSchema>[]
  },
): Container {
  const image = splitReference(known.image)
  return create(ContainerSchema, {
    ref: known.ref,
    engineId: known.uid,
    createdAt: timestampFromMs(known.createdAt),
    ...(startedAt !== undefined && { startedAt: timestampFromMs(startedAt) }),
    state: states[state],
    engineState: state,
    reason,
    ...(exitCode !== undefined && { exitCode }),
    restartCount: known.pods.reduce((sum, { restarts }) => sum + restarts, 0),
    imageName: image.name,
    imageTag: image.tag,
    podCount: known.pods.length,
    pods: [...known.pods]
      .sort((left, right) => right.createdAt - left.createdAt || left.name.localeCompare(right.name))
      .slice(0, podsMax)
      .map(toPod),
    ...more,
  })
}

const toPod = (pod: PodRecord): MessageInitShape<typeof PodSchema> => ({
  name: pod.name,
  state: states[pod.state],
  reason: pod.isEnding ? 'Terminating' : pod.reason,
  ready: pod.isReady,
  ...(pod.exitCode !== undefined && { exitCode: pod.exitCode }),
  restartCount: pod.restarts,
  machine: pod.machine,
  createdAt: timestampFromMs(pod.createdAt),
  ending: pod.isEnding,
})

function summarize({ ended, problem, replicas }: WorkloadRecord, pods: readonly PodRecord[]): Summary {
  if (ended) return summarizeEnded(ended, pods)
  const isRunning = pods.some(({ state }) => state === 'running')
  if (replicas === 0) {
    return isRunning
      ? { state: 'waiting', reason: 'Stopping' }
      : { state: 'exited', reason: 'Stopped', exitCode: newest(pods)?.exitCode }
  }
  if (pods.length === 0) return { state: 'waiting', reason: problem || 'Pending' }
  return summarizePods(pods, replicas)
}

function summarizeEnded(
  { isSuccessful, reason }: { isSuccessful: boolean; reason: string },
  pods: readonly PodRecord[],
): Summary {
  const last = newest(pods)
  const failed = [...pods].reverse().find(({ exitCode }) => exitCode !== undefined && exitCode !== 0)
  if (isSuccessful) return { state: 'exited', reason, exitCode: 0, startedAt: last?.startedAt }
  const why = failed && !['Error', 'Exited'].includes(failed.reason) ? `${reason} (${failed.reason})` : reason
  return { state: 'exited', reason: why, exitCode: failed?.exitCode, startedAt: last?.startedAt }
}

/** Pods that end count only where there are no others: their successors say how the workload is. */
function summarizePods(all: readonly PodRecord[], wanted: number): Summary {
  const current = all.filter(({ isEnding }) => !isEnding)
  const pods = current.length > 0 ? current : all
  const running = pods.filter(({ state }) => state === 'running')
  // A container that crashes again and again runs for moments in between: what it waits for says more.
  const troubled = pods.find(({ state }) => state === 'waiting') ?? pods.find(({ state }) => state === 'exited')
  if (running.length > 0) {
    const startedAt = Math.max(...running.map((pod) => pod.startedAt ?? 0)) || undefined
    const ready = running.filter(({ isReady }) => isReady).length
    const counted = wanted === 1 ? (ready === 0 ? 'Running, not ready' : 'Running') : `${ready} of ${wanted} pods ready`
    const isPart = troubled !== undefined && wanted > 1
    return { state: 'running', reason: isPart ? `${counted}: ${troubled.reason}` : counted, startedAt }
  }
  if (!troubled) return { state: 'waiting', reason: 'Pending' }
  const { exitCode, reason, startedAt, state } = troubled
  return { state, reason, exitCode, startedAt }
}

const newest = (pods: readonly PodRecord[]): PodRecord | undefined =>
  pods.reduce<PodRecord | undefined>(
    (found, pod) => (found && found.createdAt >= pod.createdAt ? found : pod),
    undefined,
  )
