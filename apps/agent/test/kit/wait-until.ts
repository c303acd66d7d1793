/** Polls every few milliseconds until the condition returns a result; fails with the description, as it is then, after the timeout. */
export async function waitUntil<T>(
  what: string | (() => string),
  condition: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 30_000,
): Promise<T> {
  const until = Date.now() + timeoutMs
  for (;;) {
    const value = await condition()
    // An empty answer is none: what is to answer may be starting.
    if (value !== undefined && value !== false && value !== '') return value
    if (Date.now() > until)
      throw new Error(`waited ${timeoutMs} ms in vain: ${typeof what === 'string' ? what : what()}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}
