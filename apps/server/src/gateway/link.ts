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
  type Command,
  type CommandResult,
  type LinkedAgent,
  type StreamHandler,
  unusableAnswer,
} from '../agent-links/index.ts'
import { checkAnswer, failureSentence } from './agent-answers.ts'

type Response = MessageInitShape<typeof ConnectResponseSchema>
type Pending = {
  command: Command['case']
  resolve(result: CommandResult): void
  reject(error: Error): void
  timer: NodeJS.Timeout
}
/**
 * `handler` gets its type when the stream is opened. The two kinds cannot be mixed up, because an id belongs to one of
 * them.
 */
export type OpenStream = {
  kind: 'containers' | 'log'
  handler: StreamHandler<never>
  /** Settles when the server has finished with the stream; the call that carries it is answered then. */
  closed: Promise<void>
  finish(error?: Error): void
  over: boolean
  /** Set once the agent's call has arrived; a stream id serves one call. */
  attached: boolean
  timer: NodeJS.Timeout | undefined
}

/**
 * The queue of an agent that does not read must not grow without limit; the server never needs this many unread
 * commands.
 */
const queueMax = 1_000
/** A proxy between agent and server often ends a stream after 60 s without data, and answers HTTP/2 pings itself. */
const keepAliveMs = 15_000
/** How long an agent may take to open a requested stream. */
const attachTimeoutMs = 15_000

export type Link = ReturnType<typeof createLink>

/** One Connect call of one agent: its queued messages, pending answers and requested streams. */
export function createLink(agent: LinkedAgent, supported: boolean) {
  const id = randomUUID()
  const queue: Response[] = []
  const pending = new Map<string, Pending>()
  const streams = new Map<string, OpenStream>()
  let wake: (() => void) | undefined
  let ended = false
  let welcomed = false

  function push(response: Response) {
    queue.push(response)
    wake?.()
  }

  /**
   * Waits for a message. Resolves with true when a message without a command has to be sent to keep the stream open.
   */
  function isQuiet(): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, keepAliveMs, true)
      wake = () => {
        clearTimeout(timer)
        resolve(false)
      }
    })
  }

  /** The messages of the Connect response. Ends when the link is closed; messages queued before are still sent. */
  async function* outgoing(signal: AbortSignal): AsyncGenerator<Response> {
    const stop = () => end()
    signal.addEventListener('abort', stop, { once: true })
    try {
      if (signal.aborted) return
      for (;;) {
        for (let next = queue.shift(); next; next = queue.shift()) {
          if (signal.aborted) return
          yield next
        }
        if (ended) return
        if (await isQuiet()) yield {}
      }
    } finally {
      signal.removeEventListener('abort', stop)
      end()
    }
  }

  /** Fails all pending answers and streams. Further calls do nothing. */
  function end(cause: Error = offline()) {
    if (ended) return
    ended = true
    for (const waiting of pending.values()) {
      clearTimeout(waiting.timer)
      waiting.reject(cause)
    }
    pending.clear()
    for (const stream of [...streams.values()]) stream.finish(cause)
    wake?.()
  }

  function send(command: Command, commandId: string = randomUUID()): boolean {
    if (ended || !welcomed || !supported) return false
    if (queue.length >= queueMax) {
      end()
      return false
    }
    push({ commandId, command })
    return true
  }

  function request(command: Command, timeoutMs: number): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const commandId = randomUUID()
      const timer = setTimeout(() => {
        pending.delete(commandId)
        reject(
          new CruxError('serviceUnavailable', { property: 'agent', description: 'The agent did not answer in time.' }),
        )
      }, timeoutMs)
      pending.set(commandId, { command: command.case, resolve, reject, timer })
      if (send(command, commandId)) return
      clearTimeout(timer)
      pending.delete(commandId)
      reject(offline())
    })
  }

  /** An answer to a command that is no longer awaited is ignored. */
  function respond({ commandId, result }: RespondRequest) {
    const waiting = pending.get(commandId)
    if (!waiting) return
    pending.delete(commandId)
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

  function open<M>(kind: OpenStream['kind'], command: (streamId: string) => Command, handler: StreamHandler<M>) {
    const streamId = randomUUID()
    const { promise, resolve } = Promise.withResolvers<void>()
    const stream: OpenStream = {
      kind,
      handler: handler as StreamHandler<never>,
      closed: promise,
      over: false,
      attached: false,
      timer: setTimeout(
        () =>
          stream.finish(
            new CruxError('serviceUnavailable', {
              property: 'agent',
              description: 'The agent did not open the stream.',
            }),
          ),
        attachTimeoutMs,
      ),
      finish(error) {
        if (!settle()) return
        handler.ended(error)
      },
    }
    function settle(): boolean {
      if (stream.over) return false
      stream.over = true
      clearTimeout(stream.timer)
      streams.delete(streamId)
      resolve()
      return true
    }
    streams.set(streamId, stream)
    if (!send(command(streamId))) {
      settle()
      throw offline()
    }
    return {
      close() {
        if (settle()) send({ case: 'stopStream', value: { streamId } })
      },
    }
  }

  return {
    id,
    agent,
    supported,
    get ended() {
      return ended
    },
    get welcomed() {
      return welcomed
    },
    outgoing,
    send,
    request,
    respond,
    open,
    stream: (streamId: string) => streams.get(streamId),
    /** Welcome is the first message of a link; commands are taken from then on. */
    welcome(welcome: MessageInitShape<typeof WelcomeSchema>) {
      if (ended) return
      welcomed = true
      push({ commandId: randomUUID(), command: { case: 'welcome', value: welcome } })
    },
    end,
    close(reason: CloseReason) {
      if (ended) return
      push({ commandId: randomUUID(), command: { case: 'closeLink', value: { reason } } })
      end(reason === CloseReason.TOKEN_REVOKED ? offline('The token of the agent was revoked.') : offline())
    },
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
