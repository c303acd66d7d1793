import { getMessage } from '../../../errors.ts'
import { crashLoopReason, enterPosition } from '../../../journal/crash-loop.ts'
import { Phase, type ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { Plan } from '../plan/steps.ts'
import { execute, inStages } from './executors.ts'
import { getPlan, type ReleaseContext, toFinalContext } from './release-context.ts'

/**
 * Reports that the new containers have taken over, then removes what they replaced. The success does not wait for the removal: no failure
 * of the removal reverts it, and open connections may have an hour to end. A container that cannot be removed is named in the log and
 * stays.
 */
export async function succeedAndCleanUp(context: ReleaseContext): Promise<void> {
  const { journal, progressReporter } = context
  const plan = getPlan(journal)
  if (!plan) throw new Error('a release that has taken over has a plan')
  if (!journal.outcome) succeed(plan, progressReporter)
  const reason = crashLoopReason(journal)
  if (reason) progressReporter.warn('', `${reason}: previous containers that are left must be removed by hand`)
  else await cleanUp(plan, context)
  progressReporter.cleanUpEnd()
}

function succeed(plan: Plan, progressReporter: ProgressReporter): void {
  for (const { instanceId, mode } of plan.instances) {
    if (mode === 'keep' || mode === 'first') progressReporter.skipped(instanceId, Phase.CLEAN_UP)
    else progressReporter.running(instanceId, Phase.CLEAN_UP)
  }
  progressReporter.outcome({ successful: true, containerNames: plan.instances.map(({ full }) => full) })
}

async function cleanUp(plan: Plan, context: ReleaseContext): Promise<void> {
  const { control, journal, node, progressReporter } = context
  const { log } = node
  // The removal continues while the disk is full: the position is only needed to count crashes.
  await enterPosition(journal, 'clean-up').catch((error) =>
    log.warn({ reason: getMessage(error) }, 'a position is not written yet'),
  )
  const steps = toFinalContext(context, plan)
  await inStages(plan.cleanUp, steps, async (step) => {
    try {
      await execute(step, steps)
    } catch (error) {
      control.ending.throwIfAborted()
      log.warn({ reason: getMessage(error) }, 'a previous container could not be removed')
      progressReporter.warn(
        'instanceId' in step ? step.instanceId : '',
        `the previous container could not be removed: ${getMessage(error)}`,
      )
    }
  })
  for (const { instanceId, mode } of plan.instances)
    if (mode !== 'keep' && mode !== 'first') progressReporter.done(instanceId, Phase.CLEAN_UP)
}
