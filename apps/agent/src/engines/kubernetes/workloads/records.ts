import { z } from 'zod'
import { getOwner, label } from '../../labels.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import { type Resources, sumPodRequests } from '../machines/resources.ts'

/** What a list of workloads needs of the cluster's objects. The objects themselves are ten to fifty times as large and are not kept. */

interface CommonRecord {
  uid: string
  name: string
  namespace: string
  resourceVersion: string
  createdAt: number
}

export interface WorkloadRecord extends CommonRecord {
  kind: 'Deployment' | 'Job'
  /** Empty for a workload that no deployment of Crux made. */
  labels: Readonly<Record<string, string>>
  replicas: number
  image: string
  command: string
  ports: readonly { internal: number; protocol: string }[]
  /** Why the cluster creates no pods. */
  problem: string
  /** How a Job has ended; undefined while it goes on, and for Deployments. */
  ended: { isSuccessful: boolean; reason: string } | undefined
}

export interface ReplicaSetRecord extends CommonRecord {
  deployment: string | undefined
}

export type PodState = 'running' | 'waiting' | 'exited'

export interface PodRecord extends CommonRecord {
  owner: { kind: string; name: string; uid: string } | undefined
  /** The main container of the pod. */
  container: string
  image: string
  /** Empty while no machine was chosen. */
  machine: string
  isEnding: boolean
  isReady: boolean
  state: PodState
  reason: string
  exitCode: number | undefined
  restarts: number
  startedAt: number | undefined
  /** What it takes of its machine; undefined once it has ended. */
  requests: Resources | undefined
}

const count = z.number().default(0)
const text = z.string().default('')
const Condition = z.object({ type: z.string(), status: z.string(), reason: text, message: text })
const conditions = z.array(Condition).default([])
const Container = z.object({
  name: z.string(),
  image: text,
  command: z.array(z.string()).default([]),
  args: z.array(z.string()).default([]),
  ports: z.array(z.object({ containerPort: z.number(), protocol: z.string().default('TCP') })).default([]),
})
const PodSpec = z.object({ nodeName: text, containers: z.array(Container).default([]) })
const template = z.object({ spec: PodSpec })

const Deployment = z.object({
  spec: z.object({ replicas: z.number().default(1), template }),
  status: z.object({ conditions }).prefault({}),
})
const Job = z.object({
  spec: z.object({ parallelism: z.number().default(1), suspend: z.boolean().default(false), template }),
  status: z.object({ conditions }).prefault({}),
})

const Terminated = z.object({ exitCode: z.number(), reason: text, startedAt: z.string().nullish() })
const State = z
  .object({
    waiting: z.object({ reason: text }).optional(),
    running: z.object({ startedAt: z.string().nullish() }).optional(),
    terminated: Terminated.optional(),
  })
  .prefault({})
const ContainerStatus = z.object({
  name: z.string(),
  ready: z.boolean().default(false),
  restartCount: count,
  state: State,
  lastState: State,
})
type ContainerStatus = z.output<typeof ContainerStatus>
const Pod = z.object({
  spec: PodSpec,
  status: z
    .object({
      phase: text,
      reason: text,
      conditions,
      initContainerStatuses: z.array(ContainerStatus).default([]),
      containerStatuses: z.array(ContainerStatus).default([]),
    })
    .prefault({}),
})

const toCommon = ({ createdAt, name, namespace, resourceVersion, uid }: ClusterObject): CommonRecord => ({
  uid,
  name,
  namespace,
  resourceVersion,
  createdAt: createdAt.getTime(),
})

/** Whether a deployment of Crux made the workload: it has all labels of an owner, and is in the namespace of its prefix. */
export const isOurs = ({ labels, namespace }: Pick<ClusterObject, 'labels' | 'namespace'>): boolean =>
  getOwner({ ...labels })?.prefix === namespace

/** Addresses are too long for the value of a label, but pages find them beside the labels. */
function withAddresses({ annotations, labels }: ClusterObject): Readonly<Record<string, string>> {
  const routes = annotations[label.routes]
  return routes === undefined ? labels : { ...labels, [label.routes]: routes }
}

/** Undefined for an object whose shape is unknown. */
export function toWorkloadRecord(object: ClusterObject): WorkloadRecord | undefined {
  const labels = isOurs(object) ? withAddresses(object) : {}
  const common = { ...toCommon(object), labels }
  const name = labels[label.name] ?? object.name
  if (object.kind === 'Deployment') {
    const parsed = Deployment.safeParse(object.fields).data
    if (!parsed) return undefined
    const failure = parsed.status.conditions.find(({ status, type }) => type === 'ReplicaFailure' && status === 'True')
    const { replicas, template } = parsed.spec
    const problem = failure ? `${failure.reason}: ${failure.message}` : ''
    return {
      ...common,
      kind: 'Deployment',
      replicas,
      ...describeContainer(template.spec, name),
      problem,
      ended: undefined,
    }
  }
  const parsed = Job.safeParse(object.fields).data
  if (!parsed) return undefined
  const { parallelism, suspend, template } = parsed.spec
  const has = (type: string) => parsed.status.conditions.find((one) => one.type === type && one.status === 'True')
  const failed = has('Failed')
  const ended = failed
    ? { isSuccessful: false, reason: failed.reason }
    : has('Complete')
      ? { isSuccessful: true, reason: 'Completed' }
      : undefined
  const replicas = suspend ? 0 : parallelism
  return { ...common, kind: 'Job', replicas, ...describeContainer(template.spec, name), problem: '', ended }
}

const findMain = <T extends { name: string }>(containers: readonly T[], name: string): T | undefined =>
  containers.find((one) => one.name === name) ?? containers[0]

function describeContainer({ containers }: z.output<typeof PodSpec>, name: string) {
  const main = findMain(containers, name)
  return {
    image: main?.image ?? '',
    command: [...(main?.command ?? []), ...(main?.args ?? [])].join(' '),
    ports: (main?.ports ?? []).map(({ containerPort, protocol }) => ({
      internal: containerPort,
      protocol: protocol.toLowerCase(),
    })),
  }
}

export const toReplicaSetRecord = (object: ClusterObject): ReplicaSetRecord => ({
  ...toCommon(object),
  deployment: object.owners.find(({ kind }) => kind === 'Deployment')?.uid,
})

/** Undefined for an object whose shape is unknown. */
export function toPodRecord(object: ClusterObject): PodRecord | undefined {
  const parsed = Pod.safeParse(object.fields).data
  if (!parsed) return undefined
  const { spec, status } = parsed
  // Pods of a Deployment have its labels; the main container has the workload's name.
  const main = findMain(spec.containers, object.labels[label.name] ?? '')
  const own = status.containerStatuses.find(({ name }) => name === main?.name)
  const all = [...status.initContainerStatuses, ...status.containerStatuses]
  // The kubelet owns a static pod's real definition; a Node is no workload.
  const owner = object.owners.find(({ kind }) => kind !== 'Node')
  return {
    ...toCommon(object),
    owner,
    container: main?.name ?? '',
    image: main?.image ?? '',
    machine: spec.nodeName,
    isEnding: object.deletedAt !== undefined,
    isReady: status.conditions.some((one) => one.type === 'Ready' && one.status === 'True'),
    restarts: all.reduce((sum, { restartCount }) => sum + restartCount, 0),
    requests: ['Succeeded', 'Failed'].includes(status.phase) ? undefined : sumPodRequests(object.fields.spec),
    ...describeState(status, own),
  }
}

function describeState(
  status: z.output<typeof Pod>['status'],
  own: ContainerStatus | undefined,
): Pick<PodRecord, 'state' | 'reason' | 'exitCode' | 'startedAt'> {
  const waiting = (reason: string, exitCode?: number) => ({
    state: 'waiting' as const,
    reason,
    exitCode,
    startedAt: undefined,
  })
  const scheduled = status.conditions.find(({ type }) => type === 'PodScheduled')
  if (scheduled?.status === 'False') return waiting(scheduled.reason || 'Pending')
  // An evicted pod has a reason of its own and perhaps no states of containers any more.
  if (status.phase === 'Failed' && status.reason !== '')
    return { state: 'exited', reason: status.reason, exitCode: own?.state.terminated?.exitCode, startedAt: undefined }
  const init = status.initContainerStatuses.find(({ ready, state }) => !ready && !state.running)
  const started = own?.state.running ?? own?.state.terminated
  if (init && !started) {
    const last = init.state.terminated ?? init.lastState.terminated
    const reason = init.state.waiting?.reason ?? init.state.terminated?.reason ?? ''
    return waiting(reason === '' || reason === 'PodInitializing' ? 'Initializing' : `Init: ${reason}`, last?.exitCode)
  }
  if (!own) return waiting(status.phase || 'Pending')
  const { lastState, state } = own
  if (state.running) {
    return { state: 'running', reason: 'Running', exitCode: undefined, startedAt: toTime(state.running.startedAt) }
  }
  if (state.terminated) {
    const { exitCode, reason, startedAt } = state.terminated
    return { state: 'exited', reason: reason || 'Exited', exitCode, startedAt: toTime(startedAt) }
  }
  const last = lastState.terminated
  const reason = state.waiting?.reason || 'Waiting'
  return waiting(last?.reason === 'OOMKilled' ? `${reason} (OOMKilled)` : reason, last?.exitCode)
}

const toTime = (moment: string | null | undefined): number | undefined => (moment ? Date.parse(moment) : undefined)

/** Whether `record` describes an older state than `than`: a list may be newer than changes that a watch still delivers. */
export function isOlder(record: { resourceVersion: string }, than: { resourceVersion: string }): boolean {
  const [left, right] = [record.resourceVersion, than.resourceVersion]
  // Versions are numbers in every known API server; where they are not, the last one counts.
  if (!/^\d+$/.test(left) || !/^\d+$/.test(right)) return false
  return left.length === right.length ? left < right : left.length < right.length
}
