import { Slots } from '../../../concurrency/slots.ts'
import { stagesOf } from '../plan/stages.ts'
import type { Step } from '../plan/steps.ts'
import { execute } from './executors.ts'
import type { StepContext } from './release-context.ts'
import { allOrFirstError } from './resolve.ts'

/** How many steps of one kind run on the engine at once. A larger number gains little. */
const stepsAtOnce = 6

/** Executes the stages one after another, and the steps of a stage in parallel. Rejects with the first error when all started steps have ended. */
export async function inStages(
  steps: readonly Step[],
  context: StepContext,
  one: (step: Step) => Promise<void> = (step) => execute(step, context),
): Promise<void> {
  const slots = new Slots(stepsAtOnce)
  for (const stage of stagesOf(steps)) await allOrFirstError(stage.map((step) => slots.run(() => one(step))))
}
