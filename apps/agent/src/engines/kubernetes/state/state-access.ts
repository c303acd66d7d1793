import type { StateObjects } from '../client/state-objects.ts'

/** The state of the agent during one turn. */
export interface StateAccess {
  objects: StateObjects
  /** Ends the wait for an API server that does not answer. */
  signal: AbortSignal
  /** Aborts when another process may write: this one must not any more. */
  lost: AbortSignal
}
