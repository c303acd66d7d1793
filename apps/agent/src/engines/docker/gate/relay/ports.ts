import { createServer, type Server, type Socket } from 'node:net'
import { type GateAnswer, type GatePort, isAny, keyOf, type PortKey } from './protocol.ts'
import { listenOptions, type Relay, refuse } from './relay.ts'

/** The ports that the gate holds, and the target of each one. */
export interface Ports {
  /** Applies all changes, or none and answers with the reason. */
  apply(open: readonly GatePort[], close: readonly PortKey[]): Promise<GateAnswer>
  /** Continues with a socket that a predecessor listens on. */
  adopt(entry: GatePort, listening: Server): void
  /** Stops listening on every port; open connections stay open. */
  leave(): void
  entries(): GatePort[]
  listening(): { entry: GatePort; server: Server }[]
}

interface Held {
  entry: GatePort
  server: Server
  /** Clients that wait until their target is known. */
  waiting: Map<Socket, NodeJS.Timeout>
}

/** How long a client waits for a container that is being replaced or restarted, and how many clients may wait. */
const waitMs = 30_000
const waitingMax = 2_000
const backlog = 4_096

export function createPorts(relay: Relay): Ports {
  const held = new Map<string, Held>()

  function accept(key: string, client: Socket): void {
    const port = held.get(key)
    if (port && port.entry.target !== '') relay.begin(client, () => held.get(key)?.entry)
    else if (port && port.waiting.size < waitingMax) wait(port, client)
    else refuse(client)
  }

  function wait(port: Held, client: Socket): void {
    const timer = setTimeout(() => {
      port.waiting.delete(client)
      refuse(client)
    }, waitMs)
    const forget = () => {
      clearTimeout(timer)
      port.waiting.delete(client)
    }
    client.once('error', forget)
    client.once('close', forget)
    port.waiting.set(client, timer)
  }

  function lead(key: string, port: Held, entry: GatePort): void {
    port.entry = entry
    if (entry.target === '') return
    for (const [client, timer] of port.waiting) {
      clearTimeout(timer)
      client.removeAllListeners('error')
      client.removeAllListeners('close')
      relay.begin(client, () => held.get(key)?.entry)
    }
    port.waiting.clear()
  }

  function shut(port: Held): void {
    port.server.close()
    for (const [client, timer] of port.waiting) {
      clearTimeout(timer)
      refuse(client)
    }
    port.waiting.clear()
  }

  const makeServer = (key: string) => createServer(listenOptions, (client) => accept(key, client))

  return {
    async apply(open, close) {
      const before = new Map([...held].map(([key, { entry }]) => [key, entry]))
      const closed: GatePort[] = []
      const opened: string[] = []
      for (const key of close.map(keyOf)) {
        const port = held.get(key)
        if (!port) continue
        held.delete(key)
        shut(port)
        closed.push(port.entry)
      }
      try {
        for (const entry of open) {
          const key = keyOf(entry)
          const port = held.get(key)
          if (port && entry.container === '') {
            // It has been promised to another prefix, perhaps a moment ago.
            if (port.entry.prefix !== entry.prefix) throw promised(entry)
            continue
          }
          if (port) {
            lead(key, port, entry)
            continue
          }
          const server = makeServer(key)
          await listen(server, entry)
          held.set(key, { entry, server, waiting: new Map() })
          opened.push(key)
        }
        return { ok: true }
      } catch (error) {
        for (const key of opened) {
          const port = held.get(key)
          held.delete(key)
          if (port) shut(port)
        }
        for (const [key, port] of held) {
          const entry = before.get(key)
          if (entry) lead(key, port, entry)
        }
        for (const entry of closed) {
          const key = keyOf(entry)
          const server = makeServer(key)
          await listen(server, entry).then(
            () => held.set(key, { entry, server, waiting: new Map() }),
            () => undefined,
          )
        }
        const { code = '', message, port } = error as NodeJS.ErrnoException & { port?: number }
        return { ok: false, code, message, ...(port === undefined ? {} : { port }) }
      }
    },
    adopt(entry, listening) {
      const key = keyOf(entry)
      const server = makeServer(key)
      // The handle moves within this turn of the event loop, so no connection can arrive in between.
      server.listen(listening, backlog)
      server.on('error', (error) => reportError(entry.port, error))
      held.set(key, { entry, server, waiting: new Map() })
    },
    leave() {
      for (const port of held.values()) shut(port)
      held.clear()
    },
    entries: () => [...held.values()].map(({ entry }) => entry),
    listening: () => [...held.values()].map(({ entry, server }) => ({ entry, server })),
  }
}

/** All addresses means both families where the machine has both. */
async function listen(server: Server, { port, address }: PortKey): Promise<void> {
  if (!isAny(address)) return bind(server, port, address)
  try {
    await bind(server, port, '::')
  } catch (error) {
    if (!['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    await bind(server, port, '0.0.0.0')
  }
}

function bind(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const failed = (error: Error) => reject(Object.assign(error, { port }))
    server.once('error', failed)
    server.listen({ port, host, backlog }, () => {
      server.off('error', failed)
      // A connection that cannot be accepted, for example because of too many open files, must not end the gate.
      server.on('error', (error) => reportError(port, error))
      resolve()
    })
  })
}

function promised({ port }: PortKey): Error {
  return Object.assign(new Error(`port ${port} is reserved for another container`), { code: 'EADDRINUSE', port })
}

function reportError(port: number, error: Error): void {
  process.stderr.write(`port ${port}: ${error.message}\n`)
}
