import { messageOf } from '../../../errors/message-of.ts'
import { crashLoopReason, enterPosition } from '../../../journal/crash-loop.ts'
import type { Journal } from '../../../journal/journal.ts'
import { Phase, type ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { Plan } from '../plan/steps.ts'
import { execute } from './executors.ts'
import type { ReleaseContext } from './release-context.ts'
import { runOfJournal } from './run-of-journal.ts'
import { inStages } from './stages.ts'

/**
 * Reports that the new containers have taken over, then removes what they replaced. The success does not wait for the removal: no failure
 * of the removal reverts it, and open connections may have an hour to end. A container that cannot be removed is named in the log and
 * stays.
 */
export async function succeedAndCleanUp(
  journal: Journal,
  context: ReleaseContext,
  progressReporter: ProgressReporter,
): Promise<void> {
  const plan = journal.state.plan as Plan
  if (!journal.outcome) succeed(plan, progressReporter)
  const reason = crashLoopReason(journal)
  if (reason) progressReporter.warn('', `${reason}: previous containers that are left must be removed by hand`)
  else await cleanUp(plan, journal, context, progressReporter)
  progressReporter.cleanUpEnd()
}

function succeed(plan: Plan, progressReporter: ProgressReporter): void {
  for (const { instanceId, mode } of plan.instances) {
    if (mode === 'keep' || mode === 'first') progressReporter.skipped(instanceId, Phase.CLEAN_UP)
    else progressReporter.running(instanceId, Phase.CLEAN_UP)
  }
  progressReporter.outcome({
    successful: true,
    reason: '',
    instanceId: '',
    previousRestored: false,
    cancelled: false,
    containerNames: plan.instances.map(({ full }) => full),
  })
}

async function cleanUp(
  plan: Plan,
  journal: Journal,
  context: ReleaseContext,
  progressReporter: ProgressReporter,
): Promise<void> {
  // The removal continues while the disk is full: the position is only needed to count crashes.
  await enterPosition(journal, 'clean-up').catch((error) =>
    context.log.warn({ reason: messageOf(error) }, 'a position is not written yet'),
  )
  // Neither a cancellation nor a missing link stops the removal of the replaced containers.
  const run = runOfJournal(journal, context, progressReporter, plan)
  await inStages(plan.cleanUp, run, async (step) => {
    try {
      await execute(step, run)
    } catch (error) {
      context.ending.throwIfAborted()
      context.log.warn({ reason: messageOf(error) }, 'a previous container could not be removed')
      progressReporter.warn(
        'instanceId' in step ? step.instanceId : '',
        `the previous container could not be removed: ${messageOf(error)}`,
      )
    }
  })
  for (const { instanceId, mode } of plan.instances)
    if (mode !== 'keep' && mode !== 'first') progressReporter.done(instanceId, Phase.CLEAN_UP)
}
