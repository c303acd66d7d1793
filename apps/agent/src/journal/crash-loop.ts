import { PlanError } from '../errors.ts'
import type { Journal } from './journal.ts'

/**
 * The part of a release that is being worked on. The journal stores the position before its work starts, so that the next process knows
 * which position crashed the previous one.
 */
const positions = ['resolve', 'plan', 'create', 'start', 'handover', 'clean-up', 'undo'] as const
export type Position = (typeof positions)[number]

/** A process that ends once may have been killed; a process that ends three times at the same position would do so forever. */
export const crashesMax = 3

const activities: Record<Position, string> = {
  resolve: 'resolved and pulled the images',
  plan: 'planned the release',
  create: 'created the containers',
  start: 'started and checked the containers',
  handover: 'switched to the new containers',
  'clean-up': 'removed the previous containers',
  undo: 'undid the release',
}

/** Resolves when the journal has stored the position, also where an earlier decision stored it already. */
export async function enterPosition(journal: Journal, position: Position): Promise<void> {
  await (journal.state.position === position ? journal.written() : journal.decide({ position }))
}

/**
 * Starts the work while the position is being written, for work that changes nothing outside of the process and ends with a decision of its
 * own. Resolves when both are done.
 */
export function whileEntering<T>(journal: Journal, position: Position, work: () => Promise<T>): Promise<T> {
  const entered = enterPosition(journal, position)
  // Its rejection is reported below. Without a handler from the start, it would count as an error that reaches no caller.
  entered.catch(() => undefined)
  return work().finally(() => entered)
}

/** A process that ends in order calls this, so that the next one does not count that end as a crash. */
export async function leavePosition(journal: Journal): Promise<void> {
  await journal.decide({ position: '' })
}

/**
 * Must be called once per process for each release that an earlier process left, before the release continues.
 *
 * @returns whether any process has crashed with it
 */
export async function countCrash(journal: Journal): Promise<boolean> {
  const { position, crashes = {} } = journal.state
  // The same write leaves the position: a crash while this release waits for its turn was caused by another release.
  if (position)
    await journal.decide({ position: '', crashes: { ...crashes, [position]: (crashes[position] ?? 0) + 1 } })
  return Object.keys(journal.state.crashes ?? {}).length > 0
}

/** The reason to stop the release, naming the position that crashes the agent; undefined while another attempt may succeed. */
export function crashLoopReason(journal: Journal): string | undefined {
  const position = positions.find(
    (candidate) => candidate !== 'undo' && (journal.state.crashes?.[candidate] ?? 0) >= crashesMax,
  )
  return position && `the agent ended ${crashesMax} times while it ${activities[position]}`
}

/** @throws PlanError so that the release is undone instead of repeated */
export function refuseCrashLoop(journal: Journal): void {
  const reason = crashLoopReason(journal)
  if (reason) throw new PlanError('', `${reason}: the release is not tried again`)
}

export function isUndoGivenUp(journal: Journal): boolean {
  return (journal.state.crashes?.undo ?? 0) >= crashesMax
}
