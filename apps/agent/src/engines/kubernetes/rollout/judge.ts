import { preparationName } from '@crux/rules'
import type { ClusterObject } from '../cluster/cluster.ts'
import {
  type Condition,
  type ContainerStatus,
  describeTemplate,
  type Ended,
  type EventFields,
  readClaims,
  readDeployment,
  readEvent,
  readJob,
  readPod,
  readReplicaSet,
} from './status.ts'

/** What the cluster shows of one workload. */
export interface WorkloadObjects {
  /** A Deployment or a Job; undefined before its creation is seen, or after somebody deleted it. */
  workload: ClusterObject | undefined
  replicaSets: readonly ClusterObject[]
  pods: readonly ClusterObject[]
  events: readonly ClusterObject[]
}

/** The container that failed, for its last log lines. */
export interface FailedContainer {
  pod: string
  container: string
  /** Whether its log is the one before a restart, where there was one. */
  previousFirst: boolean
}

export type Judgement =
  | { kind: 'progressing'; detail: string }
  | { kind: 'ready'; detail: string }
  | { kind: 'failed'; reason: string; container?: FailedContainer }

/** A container that waits for one of these never starts, or only after somebody has changed something. */
const hopeless: Readonly<Record<string, string>> = {
  ErrImagePull: 'the image cannot be pulled',
  ImagePullBackOff: 'the image cannot be pulled',
  ErrImageNeverPull: 'the image is not on the node',
  InvalidImageName: 'the name of the image is not valid',
  ImageInspectError: 'the image cannot be read',
  CreateContainerConfigError: 'the container cannot be created',
  CreateContainerError: 'the container cannot be created',
  RunContainerError: 'the container cannot be started',
  CrashLoopBackOff: 'the container ends again and again',
}

/**
 * What a busy node reports for a moment, and tries again by itself: it has not read a ConfigMap or Secret in time that does exist, or its
 * container runtime did not answer in time, and may still be at work on the container.
 */
const lateNode = [
  /^failed to sync (configmap|secret) cache: timed out/,
  /^(rpc error: code = DeadlineExceeded desc = )?(failed to (create|start) containerd task[^:]*: )?context deadline exceeded$/,
  /^failed to reserve container name /,
]

const isLateNode = (message: string): boolean => lateNode.some((pattern) => pattern.test(message))

/** A container that the runtime could not start, rather than one that ran. */
const notStarted: readonly string[] = ['StartError', 'ContainerCannotRun']

const progressing = (detail: string): Judgement => ({ kind: 'progressing', detail })

/**
 * Judges a Deployment as the cluster reports it at this moment. It is ready when its controller has seen the newest change, all replicas
 * run the new pod template and are available, and no pod of an earlier template is left.
 *
 * @param known.generation what the API answered to the change: an older status is about an earlier change
 * @param known.ranBefore its pods were not made by a rollout in progress: only what they do now counts, and no restart in the past
 * @param known.hasTime a deadline that the cluster reports as missed does not count: it includes a pull, or the end of previous pods
 */
export function judgeDeployment(
  seen: WorkloadObjects,
  known: { generation: number; ranBefore?: boolean; hasTime?: boolean },
): Judgement {
  const { workload } = seen
  if (!workload) return progressing('waits for the cluster')
  const deployment = readDeployment(workload)
  if (!deployment) return { kind: 'failed', reason: 'the cluster answers a Deployment that cannot be read' }
  const { spec, status } = deployment
  if (workload.generation < known.generation || status.observedGeneration < workload.generation)
    return progressing('waits for the cluster')
  // Pods of a Deployment that has none any more may end in any way.
  if (spec.replicas === 0)
    return status.replicas === 0
      ? { kind: 'ready', detail: 'no pods, as configured' }
      : progressing('waits until its pods have ended')
  const newest = findNewest(seen, workload)
  const pods = listOwnPods(newest, seen.pods)
  const failure = firstFailure(pods, seen.events, known)
  if (failure) return failure
  const blocked = newest && findBlocked(newest)
  if (blocked) return { kind: 'failed', reason: `the cluster refuses the pods: ${blocked.message}` }
  const waits = describeWaiting(pods, seen.events)
  if (!known.hasTime && status.conditions.some((condition) => isLate(condition, newest))) {
    const limit = `it was not ready within ${spec.progressDeadlineSeconds} s`
    return { kind: 'failed', reason: waits ? `${limit}: ${waits}` : limit }
  }
  const { replicas } = spec
  const isDone =
    status.updatedReplicas === replicas && status.replicas === replicas && status.availableReplicas === replicas
  const counted = `${countReady(pods)} of ${replicas} ready`
  if (isDone) return { kind: 'ready', detail: replicas === 1 ? '' : `${replicas} of ${replicas} ready` }
  return progressing([replicas === 1 ? '' : counted, waits].filter(Boolean).join(', '))
}

/** What the preparations of the newest pods say that they have done. */
export function listPrepared(seen: WorkloadObjects): string[] {
  const pods = seen.workload?.kind === 'Deployment' ? listNewestPods(seen) : seen.pods
  const lines = pods.flatMap((pod) =>
    (readPod(pod)?.initContainerStatuses ?? []).flatMap(({ name, state: { terminated } }) =>
      name === preparationName && terminated?.exitCode === 0 ? terminated.message.split('\n') : [],
    ),
  )
  return [...new Set(lines.filter((line) => line !== ''))]
}

/** How many pods of the newest template are ready at this moment, whether or not they have been for long enough. */
export function countNewReady(seen: WorkloadObjects): number {
  return countReady(listNewestPods(seen))
}

function countReady(pods: readonly ClusterObject[]): number {
  return pods.filter((pod) => {
    const containers = pod.deletedAt ? [] : (readPod(pod)?.containerStatuses ?? [])
    return containers.length > 0 && containers.every(({ ready }) => ready)
  }).length
}

/** Judges a Job: it is ready when its container has ended with the expected exit code. */
export function judgeJob(seen: WorkloadObjects, expectedExitCode: number): Judgement {
  const { workload, pods, events } = seen
  const job = workload && readJob(workload)
  if (!job) return progressing('waits for the cluster')
  const ended = pods.flatMap((pod) => {
    const status = readPod(pod)
    const main = status?.containerStatuses[0]
    return main?.state.terminated ? [{ pod, main, ended: main.state.terminated }] : []
  })[0]
  if (ended && ended.ended.exitCode === expectedExitCode && ended.ended.reason !== 'OOMKilled')
    return { kind: 'ready', detail: `exit code ${expectedExitCode} as expected` }
  if (ended)
    return {
      kind: 'failed',
      reason: `${describeEnd(ended.ended)}, expected was ${expectedExitCode}`,
      container: { pod: ended.pod.name, container: ended.main.name, previousFirst: false },
    }
  const failure = firstFailure(pods, events)
  if (failure) return failure
  const refused = events
    .flatMap((event) => readEvent(event) ?? [])
    .findLast(({ involvedObject, reason }) => involvedObject.uid === workload.uid && reason === 'FailedCreate')
  if (refused && pods.length === 0)
    return { kind: 'failed', reason: `the cluster refuses the pods: ${refused.message}` }
  const failed = job.status.conditions.find(({ type, status }) => type === 'Failed' && status === 'True')
  if (failed) return { kind: 'failed', reason: failed.message || failed.reason }
  return progressing(describeWaiting(pods, events))
}

/**
 * The ReplicaSet that has the pod template of the Deployment. Its revision does not say it: when a change brings an earlier template back, the
 * controller writes the revision later than that it has seen the change.
 */
function findNewest({ replicaSets }: WorkloadObjects, deployment: ClusterObject): ClusterObject | undefined {
  const template = describeTemplate(deployment)
  return replicaSets.find(
    (set) => describeTemplate(set) === template && set.owners.some(({ uid }) => uid === deployment.uid),
  )
}

const listOwnPods = (set: ClusterObject | undefined, pods: readonly ClusterObject[]): readonly ClusterObject[] =>
  set ? pods.filter(({ owners }) => owners.some(({ uid }) => uid === set.uid)) : []

/** The pods of the template that a Deployment has now. */
export const listNewestPods = (seen: WorkloadObjects): readonly ClusterObject[] =>
  seen.workload ? listOwnPods(findNewest(seen, seen.workload), seen.pods) : []

/** The Deployment repeats what hinders any of its ReplicaSets, also one that a change has just ended. */
const findBlocked = (set: ClusterObject): Condition | undefined =>
  readReplicaSet(set)?.status.conditions.find(({ type, status }) => type === 'ReplicaFailure' && status === 'True')

/**
 * Whether the newest template has missed its deadline. After a change of the template, the cluster keeps the condition until it sees progress; it
 * names the ReplicaSet that it is about.
 */
function isLate({ message, reason, status, type }: Condition, newest: ClusterObject | undefined): boolean {
  if (type !== 'Progressing' || status !== 'False' || reason !== 'ProgressDeadlineExceeded') return false
  const named = /^ReplicaSet "([^"]+)"/.exec(message)?.[1]
  return named === undefined || named === newest?.name
}

function firstFailure(
  pods: readonly ClusterObject[],
  events: readonly ClusterObject[],
  { ranBefore = false }: { ranBefore?: boolean } = {},
): Judgement | undefined {
  for (const pod of pods) {
    const status = pod.deletedAt ? undefined : readPod(pod)
    if (!status) continue
    // The cluster keeps a pod that was evicted, or whose machine was shut down, beside the one that replaced it.
    if (ranBefore && (status.phase === 'Failed' || status.phase === 'Succeeded')) continue
    if (status.reason === 'Evicted') return { kind: 'failed', reason: `a pod was evicted: ${status.message}` }
    for (const container of [...status.initContainerStatuses, ...status.containerStatuses]) {
      const isInit = status.initContainerStatuses.includes(container)
      const judged = ranBefore ? { ...container, restartCount: 0 } : container
      const reason = toFailure(judged, isInit, listPodEvents(pod, events))
      if (reason)
        return {
          kind: 'failed',
          reason,
          container: {
            pod: pod.name,
            container: container.name,
            // The cluster may start one that has just ended again before its log is read.
            previousFirst: !container.state.terminated || container.restartCount === 0,
          },
        }
    }
  }
  return undefined
}

/**
 * An ended container is a failure at once, although the cluster would start it again: it did not run as long as it must. A readiness probe ends
 * none, and fails for one that has ended.
 */
function toFailure(container: ContainerStatus, isInit: boolean, events: readonly EventFields[]): string | undefined {
  const { lastState, restartCount, state } = container
  const named = isInit ? `init container ${container.name}: ` : ''
  const ended = state.terminated ?? (restartCount > 0 ? lastState.terminated : undefined)
  if (ended && isInit && container.name === preparationName && ended.exitCode > 0 && ended.message)
    return `the files of the volumes cannot be prepared: ${ended.message}`
  const isLateStart = ended && notStarted.includes(ended.reason) && isLateNode(ended.message)
  if (ended && !isLateStart && !(isInit && ended.exitCode === 0)) {
    const probe = findProbeFailure(events.filter(({ message }) => !message.startsWith('Readiness')))
    return `${named}${describeEnd(ended)}${probe ? ` after ${probe}` : ''}`
  }
  const { waiting } = state
  const sentence = waiting && hopeless[waiting.reason]
  if (!sentence || isLateNode(waiting.message)) return undefined
  if (isLateStart && waiting.reason === 'CrashLoopBackOff') return undefined
  const detail = waiting.message || waiting.reason
  return `${named}${sentence} (${waiting.reason}${detail === waiting.reason ? '' : `: ${detail}`})`
}

function describeEnd({ exitCode, reason, message }: Ended): string {
  if (reason === 'OOMKilled') return 'the container was killed because it used more memory than its limit (OOMKilled)'
  const words = reason !== '' && reason !== 'Error' && reason !== 'Completed' ? ` (${reason})` : ''
  return `the container ended with exit code ${exitCode}${words}${message ? `: ${message}` : ''}`
}

/** Why pods are not ready yet, in the cluster's own words; empty when there is nothing to say. */
function describeWaiting(pods: readonly ClusterObject[], events: readonly ClusterObject[]): string {
  for (const pod of pods) {
    const status = readPod(pod)
    if (!status) continue
    const unscheduled = status.conditions.find(({ type, status: is }) => type === 'PodScheduled' && is === 'False')
    if (unscheduled) {
      const claim = describeUnboundClaim(pod, events)
      return `no node for the pod (${unscheduled.reason}: ${unscheduled.message})${claim ? `; ${claim}` : ''}`
    }
    const own = listPodEvents(pod, events)
    const volume = own.findLast(({ reason }) => reason === 'FailedMount' || reason === 'FailedAttachVolume')
    const waits = [...status.initContainerStatuses, ...status.containerStatuses].find(({ state }) => state.waiting)
    if (volume && waits) return `a volume cannot be mounted (${volume.message})`
    const sentence = hopeless[waits?.state.waiting?.reason ?? '']
    if (sentence) return `${sentence} yet (${waits?.state.waiting?.message})`
    const probe = findProbeFailure(own)
    if (probe && status.containerStatuses.some(({ ready }) => !ready)) return probe
  }
  return ''
}

/** What the provisioner of a claim says, where the claim is why no node can have the pod. */
function describeUnboundClaim(pod: ClusterObject, events: readonly ClusterObject[]): string {
  const claims = readClaims(pod)
  const found = events
    .flatMap((event) => readEvent(event) ?? [])
    .findLast(
      ({ involvedObject: { kind, name }, type }) =>
        kind === 'PersistentVolumeClaim' && type === 'Warning' && claims.includes(name),
    )
  return found ? `the volume claim ${found.involvedObject.name} is not bound (${found.reason}: ${found.message})` : ''
}

const findProbeFailure = (events: readonly EventFields[]): string =>
  events.findLast(({ reason }) => reason === 'Unhealthy')?.message ?? ''

export const listPodEvents = (pod: ClusterObject, events: readonly ClusterObject[]): EventFields[] =>
  events.flatMap((event) => {
    const fields = readEvent(event)
    return fields?.involvedObject.uid === pod.uid ? [fields] : []
  })
