import { connect, type Socket } from 'node:net'
import { createChunker } from './chunker.ts'
import type { GatePort } from './protocol.ts'
import { proxyHeader } from './proxy-header.ts'

/** Half of a connection; every event of one side is applied to its peer. */
interface Side extends Socket {
  peer?: Side
}

/** A peer that disappeared without closing is detected after some minutes, so its socket does not stay open indefinitely. */
const keepAliveMs = 60_000

const connectionOptions = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: keepAliveMs,
}
export const listenOptions = { ...connectionOptions, pauseOnConnect: true }

/**
 * How long a container may leave a connection unanswered. A container that has just stopped does not answer at all, and Linux itself would
 * retry for two minutes, even after the port has another target.
 */
const dialMs = 3_000

/** Connections between clients and containers, counted by container. Bytes, ends and resets pass both ways as they come. */
export class Relay {
  /** By container. */
  readonly #open = new Map<string, Set<Side>>()
  readonly #waiting = new Map<string, Set<() => void>>()
  readonly #chunksTo = createChunker()

  /** @param tried the target that could not be reached before */
  /** @param port its entry at this moment; read again when the container cannot be reached, since its target may have changed in the meantime */
  start(client: Side, port: () => GatePort | undefined, tried = ''): void {
    const entry = port()
    if (!entry || entry.target === '') {
      refuse(client)
      return
    }
    const { container } = entry
    const upstream = this.#connect(client, entry)
    this.#enter(container, client)
    // Until the container has answered, nothing is read from the client: it can still get another target, and it cannot fill the memory.
    const fail = () => {
      client.off('error', gone)
      client.off('close', gone)
      this.#leave(container, client)
      const now = port()
      const moved = now !== undefined && now.target !== '' && now.target !== entry.target && now.target !== tried
      if (moved && !client.destroyed) this.start(client, port, entry.target)
      else refuse(client)
    }
    const gone = () => {
      upstream.off('error', fail)
      upstream.on('error', ignore)
      upstream.destroy()
      this.#leave(container, client)
    }
    upstream.once('error', fail)
    client.once('error', gone)
    client.once('close', gone)
    upstream.once('connect', () => {
      upstream.off('error', fail)
      client.off('error', gone)
      client.off('close', gone)
      client.once('close', () => this.#leave(container, client))
      if (entry.proxy !== '') upstream.write(proxyHeader(entry.proxy, getEnds(client)))
      join(client, upstream)
      client.on('data', onData)
      join(upstream, client)
      client.resume()
    })
  }

  count(container?: string): number {
    if (container !== undefined) return this.#open.get(container)?.size ?? 0
    let sum = 0
    for (const { size } of this.#open.values()) sum += size
    return sum
  }

  /** Resolves with the number of connections that are left when the container has none any more, or when the time is over. */
  async drained(container: string, ms: number): Promise<number> {
    if (this.#open.has(container)) {
      const wakes = this.#waiting.get(container) ?? new Set()
      this.#waiting.set(container, wakes)
      await new Promise<void>((resolve) => {
        const wake = () => {
          clearTimeout(timer)
          wakes.delete(wake)
          if (wakes.size === 0) this.#waiting.delete(container)
          resolve()
        }
        const timer = setTimeout(wake, ms)
        wakes.add(wake)
      })
    }
    return this.count(container)
  }

  #connect(client: Side, { target, containerPort }: GatePort): Side {
    const chunks = this.#chunksTo(client)
    const upstream: Side = connect({
      host: target,
      port: containerPort,
      ...connectionOptions,
      onread: chunks.onread,
    })
    upstream.once('close', chunks.end)
    const late = setTimeout(() => upstream.destroy(new Error('the container does not answer')), dialMs)
    upstream.once('connect', () => clearTimeout(late))
    upstream.once('close', () => clearTimeout(late))
    return upstream
  }

  #enter(container: string, client: Side): void {
    const all = this.#open.get(container) ?? new Set()
    this.#open.set(container, all.add(client))
  }

  #leave(container: string, client: Side): void {
    const all = this.#open.get(container)
    if (!all?.delete(client) || all.size > 0) return
    this.#open.delete(container)
    for (const wake of this.#waiting.get(container) ?? []) wake()
  }
}

/** Where nothing answers, the client's connection is reset. */
export function refuse(client: Socket): void {
  client.on('error', ignore)
  client.resetAndDestroy()
}

function getEnds(client: Socket) {
  return {
    sourceAddress: client.remoteAddress,
    sourcePort: client.remotePort,
    destinationAddress: client.localAddress,
    destinationPort: client.localPort,
  }
}

/** Functions without a closure save memory: each connection has six of them. */
function join(side: Side, peer: Side): void {
  side.peer = peer
  side.on('drain', onDrain)
  side.on('end', onEnd)
  side.on('error', onError)
  side.on('close', onClose)
}

function onData(this: Side, chunk: Buffer): void {
  // The other side accepts no more for now: reading continues when it does.
  if (this.peer?.write(chunk) === false) this.pause()
}

function onDrain(this: Side): void {
  this.peer?.resume()
}

function onEnd(this: Side): void {
  this.peer?.end()
}

function onError(this: Side): void {
  reset(this.peer)
}

function onClose(this: Side): void {
  const { peer } = this
  if (!peer || peer.destroyed) return
  // It ended before it had sent everything: the other side must not take that for a regular end.
  if (!this.readableEnded) reset(peer)
  else if (!this.writableFinished) peer.destroy()
}

/** A socket that has sent its end cannot be reset any more: Node would answer EINVAL and keep it open indefinitely. */
function reset(side: Side | undefined): void {
  if (!side || side.destroyed) return
  if (side.writableEnded) side.destroy()
  else side.resetAndDestroy()
}

function ignore(): void {
  // An error of a socket that is ending already has no effect.
}
