import { FailureCode } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import type { ContainerView } from '../engines/engine.ts'
import { EngineError, type EngineErrorKind, getMessage } from '../errors.ts'
import type { AgentClient } from '../link/client.ts'
import { keepOpen } from '../link/keep-open.ts'
import { inScope, requireScope } from '../scope/scope.ts'
import { followLog, wholeLog } from '../streams/follow-log.ts'
import { watchContainers } from '../streams/watch.ts'
import { type AnswerContext, type CommandOf, learnScope, lineMessage } from './answers.ts'

export interface StreamContext extends AnswerContext {
  client: AgentClient
  log: Logger
}

const takeMax = 100_000

/** The streams of one link. They end with it: the server then requests them again. */
interface LinkStreams {
  watch(command: CommandOf<'watchContainers'>): Promise<void>
  follow(command: CommandOf<'followLog'>): Promise<void>
  stop(streamId: string): void
}

export function createLinkStreams(context: StreamContext, link: AbortSignal): LinkStreams {
  const { client, credentials, engine, log } = context
  const controllers = new Map<string, AbortController>()

  async function stream(id: string, run: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    controllers.get(id)?.abort()
    const controller = new AbortController()
    controllers.set(id, controller)
    try {
      await run(AbortSignal.any([link, controller.signal]))
    } catch (error) {
      if (!link.aborted && !controller.signal.aborted) log.warn({ reason: getMessage(error) }, 'a stream ended early')
    } finally {
      if (controllers.get(id) === controller) controllers.delete(id)
    }
  }

  return {
    watch: ({ streamId, prefix, scope: given }) =>
      stream(streamId, (signal) => {
        const scope = learnScope(context, given)
        const messages = mapStream(watchContainers(engine, { prefix, signal }), ({ full, containers }) => ({
          streamId,
          full,
          containers: inScope(containers, scope, prefix),
        }))
        return client.streamContainers(keepOpen(messages, { streamId }), { signal })
      }),
    follow: (command) =>
      stream(command.streamId, (signal) => {
        const messages = logMessages(engine, command, credentials.nodeId(), signal)
        return client.streamLog(keepOpen(messages, { streamId: command.streamId }), { signal })
      }),
    stop: (streamId) => controllers.get(streamId)?.abort(),
  }
}

async function* logMessages(
  engine: ContainerView,
  command: CommandOf<'followLog'>,
  nodeId: string,
  signal: AbortSignal,
) {
  const { streamId, container, since } = command
  try {
    if (!container) throw new EngineError('refused', 'The command names no container')
    const scope = requireScope(command.scope, nodeId)
    const take = Math.min(command.take, takeMax)
    const pod = command.pod || undefined
    const batches = command.whole
      ? wholeLog(engine, { container, scope, pod, signal })
      : followLog(engine, { container, scope, pod, take, since, signal })
    for await (const lines of batches) yield { streamId, lines: lines.map(lineMessage) }
  } catch (error) {
    if (!signal.aborted) yield { streamId, failure: toFailure(error) }
  }
}

async function* mapStream<A, B>(source: AsyncIterable<A>, convert: (value: A) => B): AsyncGenerator<B> {
  for await (const value of source) yield convert(value)
}

const failureCodes: Record<EngineErrorKind, FailureCode> = {
  unavailable: FailureCode.ENGINE,
  'not-found': FailureCode.NOT_FOUND,
  conflict: FailureCode.CONFLICT,
  unauthorized: FailureCode.REFUSED,
  'registry-unavailable': FailureCode.ENGINE,
  'webhook-unavailable': FailureCode.ENGINE,
  'port-taken': FailureCode.CONFLICT,
  refused: FailureCode.REFUSED,
  other: FailureCode.ENGINE,
}

export function toFailure(error: unknown): { code: FailureCode; message: string } {
  return {
    code: error instanceof EngineError ? failureCodes[error.kind] : FailureCode.UNSPECIFIED,
    message: getMessage(error),
  }
}
