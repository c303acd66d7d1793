import { guardedTimer } from '../../../concurrency/pause.ts'
import type { ClusterObject } from '../cluster/cluster.ts'
import { pullSeconds } from '../plan/workload.ts'
import { type FailedContainer, listNewestPods, type WorkloadObjects } from './judge.ts'
import { listPulls } from './pulls.ts'
import { RolloutError } from './rollout-error.ts'
import { getGraceSeconds, readDeployment, readPod } from './status.ts'

/** Beyond the cluster's own deadline, in case its controller does not answer at all. */
const spareMs = 60_000

export interface LimitedWorkload {
  instanceId: string
  object: Pick<ClusterObject, 'kind'>
  timeoutMs: number
  /** For a Job: how long its container may run. */
  runMs: number
}

/** What a rollout waits for, and how long it may. */
type Wait =
  | { kind: 'pull'; images: readonly string[] }
  | { kind: 'previous'; pods: readonly ClusterObject[] }
  | { kind: 'start' }
  | { kind: 'run'; container: FailedContainer }

/**
 * Limits how long a rollout takes. Pulls of images and the ends of previous pods have limits of their own: after them, the new pods have the
 * whole time. All times are those of this process, from what it sees: the clock of the cluster may be another.
 */
export class RolloutLimits {
  /** What the rollout was last seen to wait for, for the error. */
  detail = ''
  readonly #workload: LimitedWorkload
  readonly #expired = new AbortController()
  readonly #pulled = new Set<string>()
  #wait: Wait = { kind: 'start' }
  /** When a pull or the end of previous pods was seen to be over; undefined before the first one. */
  #countsFrom: number | undefined
  #timer: NodeJS.Timeout | undefined

  #hasFailedPull = false

  constructor(workload: LimitedWorkload) {
    this.#workload = workload
    this.#limit()
  }

  /** Aborts with a RolloutError. */
  get signal(): AbortSignal {
    return this.#expired.signal
  }

  /** How the pull of images for the new pods went so far. A failed one is repeated. */
  get pull(): 'none' | 'running' | 'ended' {
    if (this.#wait.kind === 'pull') return 'running'
    if (this.#pulled.size === 0) return 'none'
    return this.#hasFailedPull ? 'running' : 'ended'
  }

  observe(seen: WorkloadObjects): void {
    const pods = this.#workload.object.kind === 'Job' ? seen.pods : listNewestPods(seen)
    const pulls = listPulls(pods, seen.events)
    const hasPulled = pulls.ended.some((container) => !this.#pulled.has(container))
    for (const container of pulls.ended) this.#pulled.add(container)
    this.#hasFailedPull = pulls.hasFailed
    const before = this.#wait.kind
    this.#wait = this.#describe(seen, pods, pulls.running)
    if (this.#wait.kind === before && !hasPulled) return
    this.#countsFrom = performance.now()
    this.#limit()
  }

  /** Whether a deadline that the cluster reports as missed was one of the new pods alone. */
  countsDeadline(seen: WorkloadObjects): boolean {
    if (this.#wait.kind === 'pull' || this.#wait.kind === 'previous') return false
    const seconds = seen.workload ? (readDeployment(seen.workload)?.spec.progressDeadlineSeconds ?? 0) : 0
    return this.#countsFrom === undefined || performance.now() - this.#countsFrom >= seconds * 1_000
  }

  close(): void {
    clearTimeout(this.#timer)
  }

  #describe(seen: WorkloadObjects, pods: readonly ClusterObject[], images: readonly string[]): Wait {
    if (images.length > 0) return { kind: 'pull', images }
    if (this.#workload.object.kind === 'Job') {
      const container = findRunning(pods)
      return container ? { kind: 'run', container } : { kind: 'start' }
    }
    const previous = listEndingPrevious(seen, pods)
    return previous.length > 0 ? { kind: 'previous', pods: previous } : { kind: 'start' }
  }

  #limit(): void {
    clearTimeout(this.#timer)
    this.#timer = guardedTimer('the limit of a rollout', this.#limitMs(), () => {
      const container = this.#wait.kind === 'run' ? this.#wait.container : undefined
      this.#expired.abort(new RolloutError(this.#workload.instanceId, this.#describeExcess(), container))
    })
  }

  #limitMs(): number {
    const { object, runMs, timeoutMs } = this.#workload
    switch (this.#wait.kind) {
      case 'pull':
        return pullSeconds * 1_000
      case 'previous':
        return Math.max(...this.#wait.pods.map(getGraceSeconds)) * 1_000 + timeoutMs + spareMs
      case 'run':
        return runMs
      case 'start':
        // Nothing but this limit ends the wait for the container of a Job.
        return object.kind === 'Job' ? timeoutMs : timeoutMs + spareMs
    }
  }

  #describeExcess(): string {
    const { object, runMs, timeoutMs } = this.#workload
    const detail = this.detail ? `: ${this.detail}` : ''
    switch (this.#wait.kind) {
      case 'pull':
        return `the pull of ${this.#wait.images[0]} has not ended within ${pullSeconds / 60} minutes: check the connection of the machine to the registry, or pull the image there before`
      case 'previous':
        return `the pod ${this.#wait.pods[0]?.name} of the previous release does not end: check its machine and its finalizers`
      case 'run':
        return `the container has not ended within ${runMs / 1_000} s: allow it more time with the timeout of the expected state`
      case 'start':
        return object.kind === 'Job'
          ? `the container did not start within ${timeoutMs / 1_000} s${detail}`
          : `the cluster did not report the result in time${detail}`
    }
  }
}

/** New pods of a Deployment that recreates come only when the ones before are gone. */
function listEndingPrevious({ pods, workload }: WorkloadObjects, newest: readonly ClusterObject[]): ClusterObject[] {
  const recreates = workload && readDeployment(workload)?.spec.strategy.type === 'Recreate'
  return recreates && newest.length === 0 ? pods.filter(({ deletedAt }) => deletedAt) : []
}

function findRunning(pods: readonly ClusterObject[]): FailedContainer | undefined {
  for (const pod of pods) {
    const running = pod.deletedAt ? undefined : readPod(pod)?.containerStatuses.find(({ state }) => state.running)
    if (running) return { pod: pod.name, container: running.name, previousFirst: false }
  }
  return undefined
}
