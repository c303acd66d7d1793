import type { Journal } from '../journal/journal.ts'
import { PlanError } from '../plan/plan-error.ts'

/**
 * Where a release is, as far as a crash is concerned. The journal has the position before its work begins, so that the next process
 * knows which one its predecessor did not survive.
 */
export type Position = 'resolve' | 'plan' | 'create' | 'start' | 'swap' | 'clean-up' | 'undo'

/** A process that ends once may have been killed; one that ends three times at the same position would do so forever. */
export const crashesMax = 3

const activities: Record<Position, string> = {
  resolve: 'resolved and pulled the images',
  plan: 'planned the release',
  create: 'created the containers',
  start: 'started and checked the containers',
  swap: 'switched to the new containers',
  'clean-up': 'removed the previous containers',
  undo: 'undid the release',
}

/** Resolves when the journal has it. */
export async function enterPosition(journal: Journal, position: Position): Promise<void> {
  await journal.decide({ position })
}

/** For a process that ends in order: the next one must not count that as a crash. */
export async function leavePosition(journal: Journal): Promise<void> {
  await journal.decide({ position: '' })
}

/**
 * To be called once per process for each release that an earlier one left, before it is continued.
 *
 * @returns whether any process has crashed with it
 */
export async function countCrash(journal: Journal): Promise<boolean> {
  const { position, crashes = {} } = journal.state
  // The position is left in the same write: a crash while the release waits for its turn is another release's.
  if (position)
    await journal.decide({ position: '', crashes: { ...crashes, [position]: (crashes[position] ?? 0) + 1 } })
  return Object.keys(journal.state.crashes ?? {}).length > 0
}

/** What the agent does not survive, in words; undefined while there is hope. */
export function crashLoopReason(journal: Journal): string | undefined {
  const position = (Object.keys(activities) as Position[]).find(
    (candidate) => candidate !== 'undo' && (journal.state.crashes?.[candidate] ?? 0) >= crashesMax,
  )
  return position && `the agent ended ${crashesMax} times while it ${activities[position]}`
}

/** @throws Refusal so that the release is undone instead of repeated */
export function refuseCrashLoop(journal: Journal): void {
  const reason = crashLoopReason(journal)
  if (reason) throw new PlanError('', `${reason}: the release is not tried again`)
}

export function isUndoGivenUp(journal: Journal): boolean {
  return (journal.state.crashes?.undo ?? 0) >= crashesMax
}
