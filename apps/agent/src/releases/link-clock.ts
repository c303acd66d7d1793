import { leaseMs } from '@crux/rules'
import { orAborted } from '../concurrency/pause.ts'

/** The link from the view of a deployment: whether the server may have given up on this agent. */
export interface LinkClock {
  up(): void
  down(): void
  /** Resolves while the link is up or has been down for at most the lease; waits otherwise. */
  mayProceed(signal: AbortSignal): Promise<void>
}

/** The server may have given up a node that was unavailable for longer than its lease, so no handover starts after it. */
export function createLinkClock(options: { leaseMs?: number; now?: () => number } = {}): LinkClock {
  const lease = options.leaseMs ?? leaseMs
  const now = options.now ?? Date.now
  let downSince: number | undefined = now()
  const waiting = new Set<() => void>()
  return {
    up() {
      downSince = undefined
      for (const wake of waiting) wake()
    },
    down() {
      downSince ??= now()
    },
    mayProceed(signal) {
      signal.throwIfAborted()
      if (downSince === undefined || now() - downSince <= lease) return Promise.resolve()
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.add(resolve)
      return orAborted(promise, signal).finally(() => waiting.delete(resolve))
    },
  }
}
