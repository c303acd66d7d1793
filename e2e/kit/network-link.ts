import { connect, createServer, type Socket } from 'node:net'

/** A TCP relay that can be disconnected and connected again, as the network between an agent and the server. */
export type NetworkLink = { port: number; cut: () => void; restore: () => void; close: () => Promise<void> }

export async function createNetworkLink(targetPort: number): Promise<NetworkLink> {
  let whole = true
  const sockets = new Set<Socket>()
  const server = createServer((near) => {
    if (!whole) return near.destroy()
    const far = connect(targetPort, '127.0.0.1')
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        sockets.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (typeof address !== 'object' || !address) throw new Error('the relay has no port')
  return {
    port: address.port,
    cut() {
      whole = false
      for (const socket of sockets) socket.destroy()
    },
    restore() {
      whole = true
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
