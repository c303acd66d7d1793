/**
 * Waits until `condition` answers something truthy and returns that. Asks again every `everyMs`; errors of the condition count as
 * "not yet" until the time is up, then the last one is the cause.
 */
export async function waitFor<T>(
  what: string,
  condition: () => Promise<T> | T,
  options: { timeoutMs?: number; everyMs?: number } = {},
): Promise<Exclude<T, undefined | null | false>> {
  const { timeoutMs = 20_000, everyMs = 25 } = options
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

/** A TCP port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const { createServer } = await import('node:net')
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.on('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() =>
        typeof address === 'object' && address ? resolve(address.port) : reject(new Error('no port')),
      )
    })
  })
}
