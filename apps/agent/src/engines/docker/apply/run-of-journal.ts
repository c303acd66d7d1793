import type { Journal } from '../../../journal/journal.ts'
import type { ProgressReporter } from '../../../journal/progress-reporter.ts'
import type { Plan } from '../plan/steps.ts'
import type { ReleaseContext } from './release-context.ts'
import type { Run } from './run.ts'

/** A run for undo and clean-up. Their steps read the state of the engine themselves, so the journal's plan suffices, without images or secrets. */
export function runOfJournal(
  journal: Journal,
  context: ReleaseContext,
  progressReporter: ProgressReporter,
  plan: Plan,
): Run {
  return {
    driver: context.driver,
    gate: context.gate,
    teamNetworks: context.teamNetworks,
    release: journal.release,
    plan,
    resolved: new Map(),
    progressReporter,
    data: context.data,
    sources: context.sources,
    secrets: new Map(),
    signal: context.ending,
    resumed: true,
    ensured: new Set(),
    ids: new Map(),
    watched: new Map(),
    overwritten: [],
    ...memoryOf(journal),
    createLock: context.createLock,
  }
}

/** The preparations that the journal lists as done, and a function to add to them. */
export function memoryOf(journal: Journal): Pick<Run, 'done' | 'remember'> {
  const done = new Set(journal.state.done ?? [])
  return {
    done,
    async remember(preparation) {
      done.add(preparation)
      await journal.decide({ done: [...done] })
    },
  }
}
