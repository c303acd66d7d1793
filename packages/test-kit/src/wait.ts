/**
 * Polls `condition` every `everyMs` until it returns a truthy value, and returns that. Errors of the condition count as "not yet" until the timeout;
 * the last one is then the cause.
 */
export async function waitFor<T>(
  what: string,
  condition: () => Promise<T> | T,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { timeoutMs = 30_000, everyMs = 25 } = options
  const end = Date.now() + timeoutMs
  let cause: unknown
  while (Date.now() < end) {
    try {
      const value = await condition()
      if (value) return value as Exclude<T, undefined | null | false>
      cause = undefined
    } catch (error) {
      cause = error
    }
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
  throw new Error(`waited ${timeoutMs} ms in vain: ${what}`, { cause })
}
