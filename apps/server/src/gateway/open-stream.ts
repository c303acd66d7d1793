import type { StreamContainersRequest } from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import type { LogBatch, StreamHandler } from '../agent-links/index.ts'

/** How long an agent may take to open a requested stream. */
const attachTimeoutMs = 15_000

/** Who gets the messages of a stream, by its kind. */
export type StreamTarget =
  | { kind: 'containers'; handler: StreamHandler<StreamContainersRequest> }
  | { kind: 'log'; handler: StreamHandler<LogBatch> }

/** A stream that the server requested from an agent. */
export class OpenStream {
  readonly target: StreamTarget
  /** Settles when the server has finished with the stream; the call that carries it is answered then. */
  readonly closed: Promise<void>
  over = false
  private attached = false
  private readonly resolveClosed: () => void
  private readonly timer: NodeJS.Timeout

  constructor(target: StreamTarget) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.target = target
    this.closed = promise
    this.resolveClosed = resolve
    this.timer = setTimeout(() => this.finish(notOpened()), attachTimeoutMs)
  }

  /** The agent's call has arrived. @returns false for another one, because a stream serves one call */
  attach(): boolean {
    if (this.attached) return false
    this.attached = true
    clearTimeout(this.timer)
    return true
  }

  /** Ends the stream without notifying its handler. @returns false if it was over */
  end(): boolean {
    if (this.over) return false
    this.over = true
    clearTimeout(this.timer)
    this.resolveClosed()
    return true
  }

  finish(error?: Error): void {
    if (this.end()) this.target.handler.ended(error)
  }
}

const notOpened = () =>
  new CruxError('serviceUnavailable', { property: 'agent', description: 'The agent did not open the stream.' })
