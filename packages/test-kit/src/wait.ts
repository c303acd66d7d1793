import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

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

/**
 * Below the ephemeral ports of Linux (32768 and up), which connections of other tests would use before the server does. Above 10080, the last port
 * that `fetch` and browsers refuse ("bad port").
 */
const ownPorts = { first: 10_081, last: 32_000 }

/** No test of this process gets a port of another one, because what publishes it may start later. */
const given = new Set<number>()

/** A TCP port that is free on every address of this machine, and that no other program takes by chance. */
export const freePort = async (): Promise<number> => (await freePortRange(1)).from

/** TCP ports in a row, as `freePort` chooses one. `to` is inclusive. */
export async function freePortRange(length: number): Promise<{ from: number; to: number }> {
  for (;;) {
    const from = randomInt(ownPorts.first, ownPorts.last - length)
    const ports = Array.from({ length }, (_, index) => from + index)
    if (ports.some((port) => given.has(port)) || !(await Promise.all(ports.map(isFree))).every(Boolean)) continue
    // Another caller may have got one of them in the meantime.
    if (ports.some((port) => given.has(port))) continue
    for (const port of ports) given.add(port)
    return { from, to: from + length - 1 }
  }
}

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)))
  })
