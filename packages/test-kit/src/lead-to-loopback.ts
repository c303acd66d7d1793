import { connect, type Socket } from 'node:net'

/** Leads each connection of a server to a port of this machine's loopback: `createServer(leadToLoopback(port))`. */
export const leadToLoopback =
  (port: number) =>
  (socket: Socket): void => {
    const target = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      one.pipe(other)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
  }
