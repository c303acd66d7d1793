import { pause } from '../../../concurrency/pause.ts'
import type { Step } from '../plan/steps.ts'
import { containerExecutors } from './container-executors.ts'
import { gateExecutors } from './gate-executors.ts'
import { networkExecutors } from './network-executors.ts'
import { preparationExecutors } from './preparation-executors.ts'
import { previousExecutors } from './previous-executors.ts'
import type { Executors, StepContext } from './release-context.ts'
import { retryWhileUnavailable } from './retry-while-unavailable.ts'

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
export async function execute<S extends Step>(step: S, context: StepContext): Promise<void> {
  context.signal.throwIfAborted()
  // The table is exhaustive over the kinds; TypeScript cannot infer that key and argument belong together.
  const executor = executors[step.kind] as (step: S, context: StepContext) => Promise<void>
  await retryWhileUnavailable(() => executor(step, context), context.signal)
}

export async function inOrder(steps: readonly Step[], context: StepContext): Promise<void> {
  for (const step of steps) await execute(step, context)
}
