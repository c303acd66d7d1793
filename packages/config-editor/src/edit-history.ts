import type { ContainerConfigField } from '@crux/contract'
import { sameValue } from '@crux/rules'

/** One field before and after an edit of this user, without changes of others in between. The draft merges `after` with what came in since `before`. */
export type FieldStep = { field: ContainerConfigField; before: unknown; after: unknown }
export type Step = { changes: readonly FieldStep[]; at: number }
/** Edits of this user that can be undone, and those that were undone. The newest is last. */
export type EditHistory = { done: readonly Step[]; undone: readonly Step[] }

export const noHistory: EditHistory = { done: [], undone: [] }
const stepsMax = 200
/** Keys typed in one go are one step. */
const goMs = 1_200

/** Notes an edit. One that continues what was typed a moment ago becomes part of that step. */
export function recordEdit(history: EditHistory, changes: readonly FieldStep[], now: number): EditHistory {
  const real = changes.filter(({ before, after }) => !sameValue(before ?? null, after ?? null))
  if (real.length === 0) return history
  const last = history.done.at(-1)
  const [change] = real
  const [previous] = last?.changes ?? []
  const continues =
    last !== undefined &&
    change !== undefined &&
    previous !== undefined &&
    real.length === 1 &&
    last.changes.length === 1 &&
    now - last.at < goMs &&
    change.field === previous.field &&
    // Otherwise a change of another user is in between, and would be undone with this user's edit.
    sameValue(previous.after ?? null, change.before ?? null) &&
    sameRows(previous.after, change.after)
  if (!continues) return { done: [...history.done, { changes: real, at: now }].slice(-stepsMax), undone: [] }
  const joined = { field: change.field, before: previous.before, after: change.after }
  const rest = history.done.slice(0, -1)
  if (sameValue(joined.before ?? null, joined.after ?? null)) return { done: rest, undone: [] }
  return { done: [...rest, { changes: [joined], at: now }], undone: [] }
}

/** Moves the newest step to the other stack, and returns the edits that undo it. */
export function undo(history: EditHistory): { history: EditHistory; edits: readonly FieldStep[] } | null {
  const step = history.done.at(-1)
  if (!step) return null
  return {
    history: { done: history.done.slice(0, -1), undone: [...history.undone, { ...step, at: 0 }] },
    edits: step.changes.map(({ field, before, after }) => ({ field, before: after, after: before })),
  }
}

export function redo(history: EditHistory): { history: EditHistory; edits: readonly FieldStep[] } | null {
  const step = history.undone.at(-1)
  if (!step) return null
  return {
    history: { done: [...history.done, { ...step, at: 0 }], undone: history.undone.slice(0, -1) },
    edits: step.changes,
  }
}

/** A row that comes or goes is a step of its own. */
const sameRows = (left: unknown, right: unknown): boolean =>
  !Array.isArray(left) || !Array.isArray(right) || left.length === right.length
