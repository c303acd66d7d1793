import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'

/** Forwards the engine's socket through one that the test can cut, and records the requests. */
export async function openCuttableSocket(directory: string) {
  const path = join(directory, 'docker.sock')
  const sockets = new Set<Socket>()
  const asked: string[] = []
  let server = makeServer()
  function makeServer() {
    return createServer((client) => {
      const engine = connect('/var/run/docker.sock')
      for (const socket of [client, engine]) {
        sockets.add(socket)
        socket.on('error', () => undefined)
        socket.on('close', () => sockets.delete(socket))
      }
      client.on('data', (data) => {
        const first = /^[A-Z]+ (\S+) HTTP/.exec(data.toString('latin1'))?.[1]
        if (first) asked.push(first)
      })
      client.pipe(engine).pipe(client)
    })
  }
  const listen = () => new Promise<void>((resolve) => server.listen(path, resolve))
  await listen()
  return {
    dockerHost: `unix://${path}`,
    /** Paths with their queries, in order. */
    requests: (): readonly string[] => asked,
    async cut() {
      for (const socket of sockets) socket.destroy()
      await new Promise<void>((resolve) => server.close(() => resolve()))
    },
    async heal() {
      server = makeServer()
      await listen()
    },
  }
}
