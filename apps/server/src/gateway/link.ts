import { randomUUID } from 'node:crypto'
import type { MessageInitShape } from '@bufbuild/protobuf'
import {
  CloseReason,
  type ConnectResponseSchema,
  FailureCode,
  type RespondRequest,
  type WelcomeSchema,
} from '@crux/agent-protocol'
import { CruxError } from '@crux/contract'
import {
  type AgentStream,
  type Command,
  type CommandResult,
  type LinkedAgent,
  unusableAnswer,
} from '../agent-links/index.ts'
import { checkAnswer, failureSentence } from './agent-answers.ts'
import { OpenStream, type StreamTarget } from './open-stream.ts'

type Response = MessageInitShape<typeof ConnectResponseSchema>
type Pending = {
  command: Command['case']
  resolve(result: CommandResult): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}
/**
 * The queue of an agent that does not read must not grow without limit; the server never needs this many unread
 * commands.
 */
const queueMax = 1_000
/** A proxy between agent and server often ends a stream after 60 s without data, and answers HTTP/2 pings itself. */
const keepAliveMs = 15_000

/** One Connect call of one agent: its queued messages, pending answers and requested streams. */
export class Link {
  readonly id = randomUUID()
  readonly agent: LinkedAgent
  readonly supported: boolean
  ended = false
  /** Commands are taken from then on. */
  welcomed = false
  /** The update of the agent that is in progress: it gets no releases until that has ended. */
  updateId: string | undefined
  private readonly queue: Response[] = []
  private readonly pending = new Map<string, Pending>()
  private readonly streams = new Map<string, OpenStream>()
  private wake: (() => void) | undefined

  constructor(agent: LinkedAgent, supported: boolean) {
    this.agent = agent
    this.supported = supported
  }

  get updating(): boolean {
    return this.updateId !== undefined
  }

  /** The messages of the Connect response. Ends when the link is closed; messages queued before are still sent. */
  async *outgoing(signal: AbortSignal): AsyncGenerator<Response> {
    const stop = () => this.end()
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) return
      for (;;) {
        for (let next = this.queue.shift(); next; next = this.queue.shift()) {
          if (signal.aborted) return
          yield next
        }
        if (this.ended) return
        if (await this.isQuiet()) yield {}
      }
    } finally {
      signal.removeEventListener('abort', stop)
      this.end()
    }
  }

  /** Welcome is the first message of a link. */
  welcome(welcome: MessageInitShape<typeof WelcomeSchema>): void {
    if (this.ended) return
    this.welcomed = true
    this.push({ commandId: randomUUID(), command: { case: 'welcome', value: welcome } })
  }

  send(command: Command, commandId: string = randomUUID()): boolean {
    if (this.ended || !this.welcomed || !this.supported) return false
    if (this.queue.length >= queueMax) {
      this.end()
      return false
    }
    this.push({ commandId, command })
    return true
  }

  /** The command to update is the only one that an agent below the minimum version gets. */
  sendUpdate(command: Command): void {
    if (!this.ended && this.welcomed) this.push({ commandId: randomUUID(), command })
  }

  request(command: Command, timeoutMs: number): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const commandId = randomUUID()
      const timer = setTimeout(() => {
        this.pending.delete(commandId)
        reject(
          new CruxError('serviceUnavailable', { property: 'agent', description: 'The agent did not answer in time.' }),
        )
      }, timeoutMs)
      this.pending.set(commandId, { command: command.case, resolve, reject, timer })
      if (this.send(command, commandId)) return
      clearTimeout(timer)
      this.pending.delete(commandId)
      reject(offline())
    })
  }

  /** An answer to a command that is no longer awaited is ignored. */
  respond({ commandId, result }: RespondRequest): void {
    const waiting = this.pending.get(commandId)
    if (!waiting) return
    this.pending.delete(commandId)
    clearTimeout(waiting.timer)
    if (result.case === 'failure') waiting.reject(failureToError(result.value))
    else if (result.case === undefined) waiting.reject(unusableAnswer())
    else {
      try {
        waiting.resolve(checkAnswer(waiting.command, result))
      } catch (error) {
        waiting.reject(error instanceof Error ? error : unusableAnswer(error))
      }
    }
  }

  /** @throws CruxError notFound `agent` when the link takes no commands */
  open(target: StreamTarget, command: (streamId: string) => Command): AgentStream {
    const streamId = randomUUID()
    const stream = new OpenStream(target)
    this.streams.set(streamId, stream)
    void stream.closed.then(() => this.streams.delete(streamId))
    if (!this.send(command(streamId))) {
      stream.end()
      throw offline()
    }
    return {
      close: () => {
        if (stream.end()) this.send({ case: 'stopStream', value: { streamId } })
      },
    }
  }

  stream(streamId: string): OpenStream | undefined {
    return this.streams.get(streamId)
  }

  /** Fails all pending answers and streams. Further calls do nothing. */
  end(cause: Error = offline()): void {
    if (this.ended) return
    this.ended = true
    for (const waiting of this.pending.values()) {
      clearTimeout(waiting.timer)
      waiting.reject(cause)
    }
    this.pending.clear()
    for (const stream of this.streams.values()) stream.finish(cause)
    this.wake?.()
  }

  close(reason: CloseReason): void {
    if (this.ended) return
    this.push({ commandId: randomUUID(), command: { case: 'closeLink', value: { reason } } })
    this.end(reason === CloseReason.TOKEN_REVOKED ? offline('The token of the agent was revoked.') : offline())
  }

  private push(response: Response): void {
    this.queue.push(response)
    this.wake?.()
  }

  /**
   * Waits for a message. Resolves with true when a message without a command has to be sent to keep the stream open.
   */
  private isQuiet(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, keepAliveMs, true)
      this.wake = () => {
        clearTimeout(timer)
        resolve(false)
      }
    })
  }
}

export const offline = (description = 'The agent of this node is not connected.'): CruxError =>
  new CruxError('notFound', { property: 'agent', description })

/** Converts failures of a command to errors of the catalogue. `key` is the wire's name of the container. */
export function failureToError(failure: { code: FailureCode; message: string }): CruxError {
  const description = failureSentence(failure.message) || undefined
  return failure.code === FailureCode.NOT_FOUND
    ? new CruxError('notFound', { property: 'key', description: description ?? 'There is no such container.' })
    : new CruxError('preconditionFailed', {
        property: 'key',
        description: description ?? 'The engine refused the operation.',
      })
}
