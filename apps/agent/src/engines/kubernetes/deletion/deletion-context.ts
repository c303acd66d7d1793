import { EngineError, getMessage, isEngineError, PlanError } from '../../../errors.ts'
import type { LockedNamespaces } from '../locks/locked-namespaces.ts'
import type { ClusterNode } from '../rollout/release-context.ts'

export interface DeletionContext {
  node: ClusterNode
  locked: LockedNamespaces
  /** Aborts when the agent ends. */
  signal: AbortSignal
}

/** What became of something that was to be deleted; the reason is a sentence for users. */
export type Deletion = { state: 'deleted' } | { state: 'deleting' | 'kept'; reason: string }

/** Agents that were installed by an earlier version have no rights to delete data. */
export function toReason(error: unknown): string {
  const message = getMessage(error)
  return isMissingRight(error) ? `${message}, or apply the manifest of the node again` : message
}

export const isMissingRight = (error: unknown): boolean =>
  isEngineError(error, 'refused') && error.message.includes('has no right to')

/** For the answer to a command: a refusal is one, wherever it comes from. */
export function toRefusal(error: unknown): unknown {
  if (error instanceof PlanError) return new EngineError('refused', error.message, { cause: error })
  return isMissingRight(error) ? new EngineError('refused', toReason(error), { cause: error }) : error
}
