import { pause } from './pause.ts'

const attemptsMax = 4
const firstWaitMs = 250

/** Repeats work that failed after a delay, where that may help. */
export async function retried<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  mayPass: (error: unknown) => boolean,
): Promise<T> {
  for (let attempt = 1, waitMs = firstWaitMs; ; attempt++, waitMs *= 3) {
    try {
      return await work()
    } catch (error) {
      if (signal.aborted) throw signal.reason
      if (!mayPass(error) || attempt === attemptsMax) throw error
      await pause(waitMs, signal)
    }
  }
}
