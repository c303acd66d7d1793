import { setMaxListeners } from 'node:events'
import { AbortedError, EngineError, getMessage, PlanError } from '../../../errors.ts'
import {
  crashesMax,
  enterPosition,
  isUndoGivenUp,
  refuseCrashLoop,
  whileEntering,
} from '../../../journal/crash-loop.ts'
import type { Journal } from '../../../journal/journal.ts'
import { createProgressReporter, Phase } from '../../../journal/progress-reporter.ts'
import type { ReleaseControl } from '../../engine.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import { applyWorkloads } from './apply-workloads.ts'
import { succeedAndCleanUp } from './clean-up.ts'
import { planRelease } from './plan-release.ts'
import { prepareWorkloads } from './prepare.ts'
import { putBack } from './put-back.ts'
import type { ClusterNode, ReleaseContext } from './release-context.ts'
import { getPlan, withPlannedNames } from './release-plan.ts'
import { RolloutError } from './rollout-error.ts'
import { readLastLines } from './verify.ts'

/** How long the last lines of a failed container may delay that the release is undone. */
const lastLinesMs = 5_000

/**
 * Applies a release to the cluster, or leaves everything as it was. Success is what the cluster reports about the new pods, never that it
 * has accepted the objects.
 */
export async function runRelease(journal: Journal, node: ClusterNode, control: ReleaseControl): Promise<void> {
  const { signal } = control
  setMaxListeners(0, signal)
  const { release } = journal
  const progressReporter = createProgressReporter(journal)
  if (!release.owner) {
    progressReporter.outcome({ successful: false, reason: 'the release names no owner' })
    return
  }
  const context: ReleaseContext = { node, journal, release, owner: release.owner, progressReporter, control, signal }
  const { committed, undoing } = journal.state
  if ((committed && !undoing) || (await takeOver(context))) {
    control.tookOver()
    await succeedAndCleanUp(context)
  }
}

/** @returns whether the new workloads run; otherwise everything is restored and the failure is reported */
async function takeOver(context: ReleaseContext): Promise<boolean> {
  const { journal, signal } = context
  const { undoing } = journal.state
  try {
    if (undoing) throw new PlanError(undoing.instanceId, undoing.reason)
    signal.throwIfAborted()
    context.node.use.assertNotDeleting(context.owner.prefix)
    refuseCrashLoop(journal)
    await enterPosition(journal, 'resolve')
    const workloads = await prepareWorkloads(context)
    const plan = await whileEntering(journal, 'plan', async () => {
      const stored = getPlan(journal)
      if (stored) return stored
      const planned = await retryWhileUnavailable(() => planRelease(context, workloads), signal, context)
      const { digests } = journal.state
      await journal.decide({ ...(digests && { digests }), plan: planned, position: 'create' })
      return planned
    })
    await applyWorkloads(context, plan, withPlannedNames(workloads, plan))
    await journal.decide({ committed: true })
    return true
  } catch (error) {
    if (error instanceof AbortedError && error.kind === 'shutdown') throw error
    await fail(context, error)
    return false
  }
}

/** Reports the reason with the last log lines of what failed, restores everything, and reports whether that succeeded. */
async function fail(context: ReleaseContext, error: unknown): Promise<void> {
  const { journal, node, progressReporter } = context
  const cancelled = error instanceof AbortedError && error.kind === 'cancelled'
  const refusal = error instanceof PlanError ? error : new PlanError('', getMessage(error), { cause: error })
  const { undoing } = journal.state
  const notWritten = (cause: unknown) => node.log.warn({ reason: getMessage(cause) }, 'a decision is not written yet')
  if (!undoing) {
    if (!(error instanceof PlanError || error instanceof AbortedError || error instanceof EngineError))
      node.log.error({ err: error }, 'a deployment failed unexpectedly')
    if (cancelled) progressReporter.warn('', 'cancelled: everything is put back')
    else progressReporter.error(refusal.instanceId, refusal.message)
    await reportLastLines(context, error)
    await journal
      .decide({ undoing: { reason: refusal.message, instanceId: refusal.instanceId, cancelled }, position: 'undo' })
      .catch(notWritten)
  } else await enterPosition(journal, 'undo').catch(notWritten)
  const plan = getPlan(journal)
  const { problems, previousRestored } = isUndoGivenUp(journal)
    ? {
        problems: [`the agent ended ${crashesMax} times while it undid the release, and left it so`],
        previousRestored: false,
      }
    : await putBack(context, plan)
  progressReporter.outcome({
    successful: false,
    reason: [undoing?.reason ?? refusal.message, ...problems].join('; '),
    instanceId: undoing?.instanceId ?? refusal.instanceId,
    previousRestored,
    cancelled: undoing?.cancelled ?? cancelled,
  })
}

async function reportLastLines(context: ReleaseContext, error: unknown): Promise<void> {
  if (!(error instanceof RolloutError)) return
  const { control, node, owner, progressReporter } = context
  progressReporter.failed(error.instanceId, Phase.VERIFY, error.message)
  if (!error.container) return
  const limit = AbortSignal.any([control.ending, AbortSignal.timeout(lastLinesMs)])
  const lines = await readLastLines(node.cluster, owner.prefix, error.container, limit)
  if (lines.length > 0) progressReporter.containerLog(error.instanceId, lines)
}
