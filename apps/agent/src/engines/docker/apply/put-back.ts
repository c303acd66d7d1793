import { messageOf } from '../../../errors/message-of.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import type { Plan } from '../plan/steps.ts'
import { execute } from './executors.ts'
import { previousContainersRun } from './previous-containers-run.ts'
import { type ReleaseContext, type StepContext, toFinalContext } from './release-context.ts'

/** Restores the previous state, and reports what could not be restored and whether the previous containers run. */
export async function putBack(
  context: ReleaseContext,
  plan: Plan | undefined,
): Promise<{ problems: string[]; previousRestored: boolean }> {
  const { control, node, release } = context
  const { engine } = node.driver
  const problems = plan ? await undo(toFinalContext(context, plan)) : []
  const { owner } = release
  for (const name of owner ? [handoverNetworkName(owner), networkName(owner)] : [])
    await engine.removeNetworkIfUnused(name).catch(() => undefined)
  return {
    problems,
    previousRestored: problems.length === 0 && (await previousContainersRun(engine, release, plan, control.ending)),
  }
}

/**
 * Restores the previous state whatever had been done: every step first reads the current state. Waits indefinitely while the engine is
 * unavailable.
 */
async function undo(context: StepContext): Promise<string[]> {
  const problems: string[] = []
  for (const group of context.plan.undo) {
    const results = await Promise.allSettled(group.map((step) => execute(step, context)))
    context.signal.throwIfAborted()
    for (const result of results) if (result.status === 'rejected') problems.push(messageOf(result.reason))
  }
  for (const problem of problems) context.progressReporter.error('', `could not be put back: ${problem}`)
  return problems
}
