import { allOrFirstError } from '../../../concurrency/all-or-first-error.ts'
import { pause } from '../../../concurrency/pause.ts'
import { Slots } from '../../../concurrency/slots.ts'
import { retryWhileUnavailable } from '../../retry-while-unavailable.ts'
import { type Step, type StepOf, toStages } from '../plan/steps.ts'
import { containerExecutors } from './container-executors.ts'
import { gateExecutors } from './gate-executors.ts'
import { networkExecutors } from './network-executors.ts'
import { preparationExecutors } from './preparation-executors.ts'
import { previousExecutors } from './previous-executors.ts'
import type { Executors, StepContext } from './release-context.ts'

/** One executor per kind of step; a new kind without an executor does not compile. Each executor may be repeated after a crash. */
const executors: Executors = {
  ...networkExecutors,
  ...containerExecutors,
  ...previousExecutors,
  ...preparationExecutors,
  ...gateExecutors,
  drain: async ({ ms }, { progressReporter, signal }) => {
    progressReporter.info('', `old and new run side by side for ${ms / 1_000} s, so that open connections end`)
    await pause(ms, signal)
  },
}

/** Waits while the engine is unavailable, so that its restart fails no deployment. */
export async function execute<K extends Step['kind']>(
  step: StepOf<K> & { kind: K },
  context: StepContext,
): Promise<void> {
  context.signal.throwIfAborted()
  const executor: Executors[K] = executors[step.kind]
  await retryWhileUnavailable(() => executor(step, context), context.signal)
}

export async function inOrder(steps: readonly Step[], context: StepContext): Promise<void> {
  for (const step of steps) await execute(step, context)
}

/** How many steps of one kind run on the engine at once. A larger number gains little. */
const stepsAtOnce = 6

/** Executes the stages one after another, and the steps of a stage in parallel. Rejects with the first error when all started steps have ended. */
export async function inStages(
  steps: readonly Step[],
  context: StepContext,
  one: (step: Step) => Promise<void> = (step) => execute(step, context),
): Promise<void> {
  const slots = new Slots(stepsAtOnce)
  for (const stage of toStages(steps)) await allOrFirstError(stage.map((step) => slots.run(() => one(step))))
}
