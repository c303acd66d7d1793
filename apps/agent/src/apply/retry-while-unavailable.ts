import { pause } from '../concurrency/pause.ts'
import { isEngineError } from '../drivers/errors.ts'

/** Repeats what an engine that is away could not do, until it is back or the signal ends it. */
export async function retryWhileUnavailable<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMs = 100; ; waitMs = Math.min(2_000, waitMs * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!isEngineError(error, 'away') || signal.aborted) throw error
      await pause(waitMs, signal)
    }
  }
}
