import { closeCodes } from '@crux/contract'
import type { Logger } from '@crux/service-kit'
import type { WebSocket } from 'ws'
import type { Actor } from '../access/index.ts'
import type { Credentials } from '../identity/index.ts'

/** Producers of bulk data continue when at most this many bytes wait. */
const lowMark = 64 * 1_024
/** A socket with more waiting bytes is closed, so that a slow browser never grows our memory. */
const hardMark = 8 * 1_024 * 1_024
/** How long a peer may take to answer our close before the connection is destroyed. */
const closeMs = 1_000

/** One browser's socket, with a limit on the bytes that wait for it. */
export class LiveSocket {
  readonly ws: WebSocket
  readonly credentials: Credentials
  actor: Actor
  alive = true
  gone = false
  private readonly parts: { log: Logger; sent: (type: string) => void }
  private waiting: (() => void)[] = []

  constructor(ws: WebSocket, actor: Actor, credentials: Credentials, parts: LiveSocket['parts']) {
    this.ws = ws
    this.actor = actor
    this.credentials = credentials
    this.parts = parts
  }

  /** @param type of the message, for the metrics */
  send(type: string, text: string): void {
    if (this.gone || this.ws.readyState !== this.ws.OPEN) return
    if (this.ws.bufferedAmount > hardMark) {
      this.parts.log.warn(
        { userId: this.actor.id, buffered: this.ws.bufferedAmount },
        'cut off a live socket that does not read',
      )
      this.close(closeCodes.tooSlow, 'too slow')
      return
    }
    this.parts.sent(type)
    this.ws.send(text, () => this.flushed())
  }

  /** Bytes that wait in this process for the peer to read. */
  buffered(): number {
    return this.ws.bufferedAmount
  }

  drained(): Promise<void> {
    if (this.gone || this.ws.bufferedAmount <= lowMark) return Promise.resolve()
    return new Promise((resolve) => this.waiting.push(resolve))
  }

  close(code: number, reason: string): void {
    if (this.gone) return
    this.ws.close(code, reason)
    // A peer that reads nothing does not read the close frame either.
    setTimeout(() => this.ws.terminate(), closeMs).unref()
    this.left()
  }

  /** After this nothing is sent, and all waiters continue. */
  left(): void {
    this.gone = true
    this.release()
  }

  private flushed() {
    if (this.ws.bufferedAmount <= lowMark) this.release()
  }

  private release() {
    for (const resume of this.waiting.splice(0)) resume()
  }
}
