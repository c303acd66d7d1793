import { orAborted, pause } from '../../../concurrency/pause.ts'
import { EngineError, getMessage } from '../../../errors.ts'
import { Phase, type ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { Cluster, ClusterObject } from '../cluster/cluster.ts'
import {
  countNewReady,
  type FailedContainer,
  type Judgement,
  judgeDeployment,
  judgeJob,
  listPrepared,
  type WorkloadObjects,
} from './judge.ts'
import type { NamespaceView } from './namespace-view.ts'
import { RolloutError } from './rollout-error.ts'
import { type LimitedWorkload, RolloutLimits } from './rollout-limits.ts'

/** How many of the last lines of a failed container are reported. */
const lastLinesMax = 100
/** A deadline may pass without a change in the cluster. */
const lookEveryMs = 1_000

/** A workload that was applied. */
export interface AppliedWorkload extends LimitedWorkload {
  /** As the API answered it. */
  object: ClusterObject
  /** For a Job. */
  exitCode: number
  /** How long its pods must keep running. */
  windowMs: number
}

/**
 * Waits until the cluster reports that the workload is what was applied, and reports what it waits for.
 *
 * @throws RolloutError as soon as the cluster knows that it will not be
 */
export async function verifyWorkload(
  view: NamespaceView,
  applied: AppliedWorkload,
  progressReporter: ProgressReporter,
  signal: AbortSignal,
): Promise<void> {
  const { instanceId } = applied
  let shown: string | undefined
  const pullReport = createPullReport(instanceId, progressReporter)
  let wasSeen = false
  const limits = new RolloutLimits(applied)
  const look = (): Judgement | undefined => {
    const seen = collect(view, applied.object)
    if (wasSeen && !seen.workload) throw deletedFromOutside(applied)
    wasSeen ||= seen.workload !== undefined
    limits.observe(seen)
    pullReport.update(limits.pull)
    const judgement = judge(seen, applied, { hasTime: !limits.countsDeadline(seen) })
    if (judgement.kind !== 'progressing') return judgement
    if (judgement.detail !== shown) progressReporter.running(instanceId, Phase.VERIFY, judgement.detail)
    shown = judgement.detail
    limits.detail = judgement.detail
    return undefined
  }
  const judgement = await untilStable(view, applied, look, AbortSignal.any([signal, limits.signal]))
    .then((judged) => {
      if (judged.kind === 'failed') throw new RolloutError(instanceId, judged.reason, judged.container)
      return judged
    })
    .catch((error: unknown) => {
      pullReport.fail(getMessage(error))
      throw error
    })
    .finally(() => limits.close())
  for (const line of listPrepared(collect(view, applied.object))) progressReporter.info(instanceId, line)
  pullReport.end()
  progressReporter.done(instanceId, Phase.VERIFY, judgement.kind === 'ready' ? judgement.detail : '')
}

/** Reports the pull as one phase, which is over when the images of the first pods are there. One that was first seen when it was over has no start. */
function createPullReport(instanceId: string, progressReporter: ProgressReporter) {
  let reported: RolloutLimits['pull'] = 'none'
  const update = (pull: RolloutLimits['pull']) => {
    if (reported === 'none' && pull === 'running') progressReporter.running(instanceId, Phase.PULL)
    if (reported !== 'ended' && pull === 'ended') progressReporter.done(instanceId, Phase.PULL)
    if (reported !== 'ended') reported = pull
  }
  return {
    update,
    fail(reason: string) {
      if (reported !== 'none' && isPullFailure(reason)) progressReporter.failed(instanceId, Phase.PULL, reason)
    },
    end() {
      if (reported === 'none') progressReporter.skipped(instanceId, Phase.PULL, 'the node has the image already')
      else update('ended')
    },
  }
}

/**
 * Waits for the judgement, and until the agent itself has seen the new pods ready for the observation window.
 */
async function untilStable(
  view: NamespaceView,
  { object, windowMs }: AppliedWorkload,
  look: () => Judgement | undefined,
  signal: AbortSignal,
): Promise<Judgement> {
  let readyAt: number | undefined
  let readyCount = 0
  const observe = () => {
    const count = countNewReady(collect(view, object))
    if (count !== readyCount) readyAt = performance.now()
    readyCount = count
    return look()
  }
  for (;;) {
    const judgement = await view.until(observe, signal, lookEveryMs)
    const leftMs = object.kind === 'Job' || readyAt === undefined ? 0 : readyAt + windowMs - performance.now()
    if (judgement.kind !== 'ready' || leftMs <= 0) return judgement
    await pause(leftMs, signal)
  }
}

/**
 * Waits until a workload that ran before is ready again, without reporting.
 *
 * @param view was opened after the workload was applied, so that it shows it from the beginning
 * @returns why it is not, undefined when it is
 */
export async function awaitReady(
  view: NamespaceView,
  applied: AppliedWorkload,
  signal: AbortSignal,
): Promise<string | undefined> {
  const limits = new RolloutLimits(applied)
  const decided = () => {
    const seen = collect(view, applied.object)
    if (!seen.workload) throw deletedFromOutside(applied)
    limits.observe(seen)
    const judgement = judge(seen, applied, { ranBefore: true, hasTime: !limits.countsDeadline(seen) })
    return judgement.kind === 'progressing' ? undefined : judgement
  }
  const judgement = await view
    .until(decided, signal, lookEveryMs)
    .catch((error: unknown) => {
      if (signal.aborted) return undefined
      throw error
    })
    .finally(() => limits.close())
  if (!judgement) return 'it is not ready yet'
  return judgement.kind === 'failed' ? judgement.reason : undefined
}

/**
 * The last lines of the container that failed; empty when there is none, or when its log is gone.
 *
 * @param signal ends the wait for a cluster that does not answer: what has arrived until then is returned
 */
export async function readLastLines(
  cluster: Pick<Cluster, 'readLog'>,
  namespace: string,
  { pod, container, previousFirst }: FailedContainer,
  signal: AbortSignal,
): Promise<string[]> {
  const read = async (previous: boolean) => {
    const lines: string[] = []
    const collectLines = async () => {
      const request = { take: lastLinesMax, follow: false, signal }
      for await (const chunk of cluster.readLog({ namespace, name: pod, container, previous }, request))
        lines.push(...chunk.map(({ text }) => text))
    }
    await orAborted(collectLines(), signal).catch((error: unknown) => {
      if (!signal.aborted && !(error instanceof EngineError)) throw error
    })
    return lines.slice(-lastLinesMax)
  }
  // A restart between two requests moves the lines from the current log to the previous one.
  for (const previous of previousFirst ? [true, false, true] : [false, true]) {
    const lines = await read(previous)
    if (lines.length > 0 || signal.aborted) return lines
  }
  return []
}

const deletedFromOutside = ({
  instanceId,
  object: { kind, name, namespace },
}: Pick<AppliedWorkload, 'instanceId' | 'object'>) =>
  new RolloutError(instanceId, `the ${kind} ${name} was deleted from the namespace ${namespace} from outside`)

function judge(
  seen: WorkloadObjects,
  { exitCode, instanceId, object }: AppliedWorkload,
  known: { ranBefore?: boolean; hasTime?: boolean },
): Judgement {
  if (seen.workload?.uid === object.uid && seen.workload.deletedAt) throw deletedFromOutside({ instanceId, object })
  if (seen.workload && seen.workload.uid !== object.uid)
    throw new RolloutError(instanceId, `the ${object.kind} ${object.name} was replaced from outside`)
  return object.kind === 'Job'
    ? judgeJob(seen, exitCode)
    : judgeDeployment(seen, { ...known, generation: object.generation })
}

function collect(view: NamespaceView, { kind, name, uid }: ClusterObject): WorkloadObjects {
  const workload = view.all(kind === 'Job' ? 'Job' : 'Deployment').find((object) => object.name === name)
  const replicaSets = view.all('ReplicaSet').filter(({ owners }) => owners.some((owner) => owner.uid === uid))
  const parents = new Set([uid, ...replicaSets.map((set) => set.uid)])
  const pods = view.all('Pod').filter(({ owners }) => owners.some((owner) => parents.has(owner.uid)))
  return { workload, replicaSets, pods, events: view.all('Event') }
}

const isPullFailure = (reason: string): boolean =>
  /ErrImagePull|ImagePullBackOff|InvalidImageName|^the pull of /.test(reason)
