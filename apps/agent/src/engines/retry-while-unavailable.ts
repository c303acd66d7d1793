import { pause } from '../concurrency/pause.ts'
import { isEngineError } from '../errors.ts'

/** Repeats work that failed because the engine is unavailable, until the engine is back or the signal aborts. */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMs = 100; ; waitMs = Math.min(2_000, waitMs * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!isEngineError(error, 'unavailable') || signal.aborted) throw error
      await pause(waitMs, signal)
    }
  }
}
