import { messageOf } from '../drivers/errors.ts'
import type { Journal } from '../journal/journal.ts'
import { companionName, networkName } from '../plan/names.ts'
import type { Plan } from '../plan/steps.ts'
import { execute, type Run } from './executors.ts'
import { formersRun } from './formers-run.ts'
import type { Narrator } from './narrator.ts'
import type { ReleaseContext } from './run-release.ts'

/** Puts everything back, and says what could not be and whether the previous containers answer. */
export async function putBack(
  journal: Journal,
  context: ReleaseContext,
  narrator: Narrator,
  plan: Plan | undefined,
): Promise<{ problems: string[]; formerRestored: boolean }> {
  const problems = plan ? await undo(plan, runForUndo(journal, context, narrator, plan)) : []
  const { owner } = journal.release
  for (const name of owner ? [companionName(owner), networkName(owner)] : [])
    await context.driver.engine.removeNetworkIfUnused(name).catch(() => undefined)
  return { problems, formerRestored: problems.length === 0 && (await formersRun(context, journal.release, plan)) }
}

/** Back to what was, whatever had been done: every step looks first. Waits for an engine that is away as long as it takes. */
async function undo(plan: Plan, run: Run): Promise<string[]> {
  const problems: string[] = []
  for (const group of plan.undo) {
    const results = await Promise.allSettled(group.map((step) => execute(step, run)))
    run.signal.throwIfAborted()
    for (const result of results) if (result.status === 'rejected') problems.push(messageOf(result.reason))
  }
  for (const problem of problems) run.narrator.error('', `could not be put back: ${problem}`)
  return problems
}

function runForUndo(journal: Journal, context: ReleaseContext, narrator: Narrator, plan: Plan): Run {
  return {
    driver: context.driver,
    gate: context.gate,
    teamNetworks: context.teamNetworks,
    release: journal.release,
    plan,
    resolved: new Map(),
    narrator,
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

/** What the journal knows to be done, and a way to add to it. */
export function memoryOf(journal: Journal): Pick<Run, 'done' | 'remember'> {
  const done = new Set(journal.facts.done ?? [])
  return {
    done,
    async remember(preparation) {
      done.add(preparation)
      await journal.decide({ done: [...done] })
    },
  }
}
