import { randomInt } from 'node:crypto'
import { createServer, type Server } from 'node:net'

/**
 * Below the ephemeral ports of Linux (32768 and up), which connections of other tests would use before the server does. Above 10080, the last port
 * that `fetch` and browsers refuse ("bad port").
 */
const ownPorts = { first: 10_081, last: 32_000 }

/** A TCP port that is free on every address of this machine, and that no other program takes by chance. */
export const freePort = async (): Promise<number> => (await freePortRange(1)).from

/**
 * TCP ports in a row, as `freePort` chooses one. No other process of these tests gets one of them until this process ends, because what publishes
 * them may start later.
 *
 * @param among the first and the last port to choose from
 * @returns `to` is inclusive
 */
export async function freePortRange(length: number, among = ownPorts): Promise<{ from: number; to: number }> {
  for (;;) {
    const from = randomInt(among.first, among.last - length + 2)
    const ports = Array.from({ length }, (_, index) => from + index)
    const reserved = await Promise.all(ports.map(reserve))
    if (reserved.every(Boolean) && (await Promise.all(ports.map(isFree))).every(Boolean))
      return { from, to: from + length - 1 }
    for (const reservation of reserved) reservation?.close()
  }
}

/**
 * Reserves a port among the processes of the tests by a socket of Linux that has a name and no file, which ends with the process.
 *
 * @returns undefined when another one has it
 */
const reserve = (port: number) =>
  new Promise<Server | undefined>((resolve, reject) => {
    const server = createServer()
    server.on('error', (error) => (getCode(error) === 'EADDRINUSE' ? resolve(undefined) : reject(error)))
    server.listen(`\0crux-test-port-${port}`, () => resolve(server.unref()))
  })

const getCode = (error: Error): unknown => ('code' in error ? error.code : undefined)

const isFree = (port: number) =>
  new Promise<boolean>((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, '0.0.0.0', () => server.close(() => resolve(true)))
  })
