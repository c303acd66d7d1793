import { createServer, type Server, type Socket } from 'node:net'
import { type GateAnswer, type GatePort, isAny, type PortKey, toKey } from './protocol.ts'
import { listenOptions, type Relay, refuse } from './relay.ts'

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

/** The ports that the gate holds, and the target of each one. */
export class Ports {
  readonly #relay: Relay
  readonly #held = new Map<string, Held>()

  constructor(relay: Relay) {
    this.#relay = relay
  }

  /** Applies all changes, or none and answers with the reason. */
  async apply(open: readonly GatePort[], close: readonly PortKey[]): Promise<GateAnswer> {
    const before = new Map([...this.#held].map(([key, { entry }]) => [key, entry]))
    const closed = close.flatMap((key) => this.#close(toKey(key)) ?? [])
    const opened: string[] = []
    try {
      for (const entry of open) if (await this.#open(entry)) opened.push(toKey(entry))
      return { ok: true }
    } catch (error) {
      for (const key of opened) this.#close(key)
      for (const [key, port] of this.#held) {
        const entry = before.get(key)
        if (entry) this.#route(key, port, entry)
      }
      for (const entry of closed) await this.#listen(entry).catch(() => undefined)
      const { code = '', message, port } = toPortError(error)
      return { ok: false, code, message, ...(port === undefined ? {} : { port }) }
    }
  }

  /** Continues with a socket that a predecessor listens on. */
  readonly adopt = (entry: GatePort, listening: Server): void => {
    const key = toKey(entry)
    const server = this.#makeServer(key)
    // The handle moves within this turn of the event loop, so no connection can arrive in between.
    server.listen(listening, backlog)
    server.on('error', (error) => reportError(entry.port, error))
    this.#held.set(key, { entry, server, waiting: new Map() })
  }

  /** Stops listening on every port; open connections stay open. */
  leave(): void {
    for (const key of [...this.#held.keys()]) this.#close(key)
  }

  entries(): GatePort[] {
    return [...this.#held.values()].map(({ entry }) => entry)
  }

  listening(): { entry: GatePort; server: Server }[] {
    return [...this.#held.values()].map(({ entry, server }) => ({ entry, server }))
  }

  /** @returns whether the port was not held before */
  async #open(entry: GatePort): Promise<boolean> {
    const key = toKey(entry)
    const port = this.#held.get(key)
    if (!port) {
      await this.#listen(entry)
      return true
    }
    if (entry.container !== '') this.#route(key, port, entry)
    // It has been promised to another prefix, perhaps a moment ago.
    else if (port.entry.prefix !== entry.prefix) throw promised(entry)
    return false
  }

  async #listen(entry: GatePort): Promise<void> {
    const key = toKey(entry)
    const server = this.#makeServer(key)
    await listen(server, entry)
    this.#held.set(key, { entry, server, waiting: new Map() })
  }

  /** @returns what was held */
  #close(key: string): GatePort | undefined {
    const port = this.#held.get(key)
    if (!port) return undefined
    this.#held.delete(key)
    port.server.close()
    for (const [client, timer] of port.waiting) {
      clearTimeout(timer)
      refuse(client)
    }
    port.waiting.clear()
    return port.entry
  }

  #makeServer(key: string): Server {
    return createServer(listenOptions, (client) => this.#accept(key, client))
  }

  #accept(key: string, client: Socket): void {
    const port = this.#held.get(key)
    if (port && port.entry.target !== '') this.#relay.start(client, () => this.#held.get(key)?.entry)
    else if (port && port.waiting.size < waitingMax) wait(port, client)
    else refuse(client)
  }

  #route(key: string, port: Held, entry: GatePort): void {
    port.entry = entry
    if (entry.target === '') return
    for (const [client, timer] of port.waiting) {
      clearTimeout(timer)
      client.removeAllListeners('error')
      client.removeAllListeners('close')
      this.#relay.start(client, () => this.#held.get(key)?.entry)
    }
    port.waiting.clear()
  }
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

/** All addresses means both families where the machine has both. */
async function listen(server: Server, { port, address }: PortKey): Promise<void> {
  if (!isAny(address)) return bind(server, port, address)
  try {
    await bind(server, port, '::')
  } catch (error) {
    if (!['EAFNOSUPPORT', 'EADDRNOTAVAIL'].includes(toPortError(error).code ?? '')) throw error
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

/** An error of a socket has the code of its system call. */
function toPortError(error: unknown): { message: string; code?: string; port?: number } {
  return error instanceof Error ? error : { message: String(error) }
}

function promised({ port }: PortKey): Error {
  return Object.assign(new Error(`port ${port} is reserved for another container`), { code: 'EADDRINUSE', port })
}

function reportError(port: number, error: Error): void {
  process.stderr.write(`port ${port}: ${error.message}\n`)
}
