import { messageOf } from '../../../errors/message-of.ts'
import type { Journal } from '../../../journal/journal.ts'
import type { ProgressReporter } from '../../../journal/progress-reporter.ts'
import { handoverNetworkName, networkName } from '../containers/names.ts'
import type { Plan } from '../plan/steps.ts'
import { execute } from './executors.ts'
import { previousContainersRun } from './previous-containers-run.ts'
import type { ReleaseContext } from './release-context.ts'
import type { Run } from './run.ts'
import { runOfJournal } from './run-of-journal.ts'

/** Restores the previous state, and reports what could not be restored and whether the previous containers run. */
export async function putBack(
  journal: Journal,
  context: ReleaseContext,
  progressReporter: ProgressReporter,
  plan: Plan | undefined,
): Promise<{ problems: string[]; previousRestored: boolean }> {
  const problems = plan ? await undo(plan, runOfJournal(journal, context, progressReporter, plan)) : []
  const { owner } = journal.release
  for (const name of owner ? [handoverNetworkName(owner), networkName(owner)] : [])
    await context.driver.engine.removeNetworkIfUnused(name).catch(() => undefined)
  return {
    problems,
    previousRestored: problems.length === 0 && (await previousContainersRun(context, journal.release, plan)),
  }
}

/**
 * Restores the previous state whatever had been done: every step first reads the current state. Waits indefinitely while the engine is
 * unavailable.
 */
async function undo(plan: Plan, run: Run): Promise<string[]> {
  const problems: string[] = []
  for (const group of plan.undo) {
    const results = await Promise.allSettled(group.map((step) => execute(step, run)))
    run.signal.throwIfAborted()
    for (const result of results) if (result.status === 'rejected') problems.push(messageOf(result.reason))
  }
  for (const problem of problems) run.progressReporter.error('', `could not be put back: ${problem}`)
  return problems
}
