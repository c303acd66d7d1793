import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

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

/**
 * Below those that Linux hands out by itself (32768 and up): connections of other tests would take a port before its server does. Above
 * 10080, the last of the ports that `fetch` and browsers refuse by its number ("bad port").
 */
const ownPorts = { first: 10_081, last: 32_000 }

/** A TCP port that is free on every address of this machine, and that nothing takes by accident. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(ownPorts.first, ownPorts.last)
    if (await isFree(port)) return port
  }
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)))
  })
