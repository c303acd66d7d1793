import { pause } from '../../../concurrency/pause.ts'

const pollIntervalMs = 250

/**
 * Asks again and again until there is an answer.
 *
 * @returns undefined when there is none within the time
 */
export async function poll<T>(
  ask: () => Promise<T | undefined>,
  { signal, timeoutMs }: { signal: AbortSignal; timeoutMs: number },
): Promise<T | undefined> {
  const endsAt = performance.now() + timeoutMs
  for (;;) {
    const answer = await ask()
    if (answer !== undefined || performance.now() >= endsAt) return answer
    await pause(pollIntervalMs, signal)
  }
}
