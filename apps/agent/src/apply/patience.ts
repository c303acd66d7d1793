import { isEngineError } from '../drivers/errors.ts'

/** Repeats what an engine that is away could not do, until it is back or the signal ends it. */
export async function whileAway<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let waitMs = 100; ; waitMs = Math.min(2_000, waitMs * 2)) {
    try {
      return await work()
    } catch (error) {
      if (!isEngineError(error, 'away') || signal.aborted) throw error
      await pause(waitMs, signal)
    }
  }
}

/** Resolves after the time; rejects with the signal's reason as soon as it aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const stop = () => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop)
      resolve()
    }, ms)
    signal.addEventListener('abort', stop, { once: true })
  })
}
