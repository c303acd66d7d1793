import { setMaxListeners } from 'node:events'
import { getMessage, PlanError } from '../../../errors.ts'
import { Phase } from '../../../journal/progress-reporter.ts'
import { execute, inOrder } from './executors.ts'
import type { StepContext } from './release-context.ts'

/** How many containers the engine starts at once. A larger number gains little, and a failure waits for every start in progress. */
const startsAtOnce = 6

/**
 * Starts instances in the version's order, a few at once, after the stops that each one needs. An instance that holds back the others is
 * verified before the next one starts.
 */
export async function startAndVerify(context: StepContext): Promise<void> {
  const failing = new AbortController()
  setMaxListeners(0, failing.signal)
  const signal = AbortSignal.any([context.signal, failing.signal])
  const inner: StepContext = { ...context, signal }
  const starting = new Set<Promise<void>>()
  const checks: Promise<void>[] = []
  let first: { error: unknown } | undefined
  const guarded = async (instanceId: string, phase: Phase, work: Promise<void>): Promise<void> => {
    try {
      await work
    } catch (error) {
      if (!first && !context.signal.aborted) {
        first = { error: toPlanError(error, instanceId) }
        context.progressReporter.failed(instanceId, phase, getMessage(error))
        failing.abort(error)
      }
      throw error
    }
  }
  try {
    for (const { instanceId, steps, verified = [] } of context.plan.start) {
      while (starting.size >= startsAtOnce) await Promise.race(starting)
      const started = guarded(instanceId, Phase.START, inOrder(steps, inner)).finally(() => starting.delete(started))
      starting.add(started)
      const verify = async () => {
        await execute({ kind: 'container.verify', instanceId }, inner)
        await inOrder(verified, inner)
      }
      const check = started.then(() => guarded(instanceId, Phase.VERIFY, verify()))
      checks.push(check)
      check.catch(() => undefined)
      if (context.plan.instances.find((planned) => planned.instanceId === instanceId)?.holdsBack) await check
    }
  } catch {
    // `first` or the outer signal holds the cause.
  }
  await Promise.allSettled(checks)
  for (const { watched } of context.state.watched.values()) watched.close()
  context.state.watched.clear()
  context.signal.throwIfAborted()
  if (first) throw first.error
}

/** Converts any error to a PlanError of the instance. */
export function toPlanError(error: unknown, instanceId: string): PlanError {
  if (error instanceof PlanError) return error
  return new PlanError(instanceId, getMessage(error), { cause: error })
}
