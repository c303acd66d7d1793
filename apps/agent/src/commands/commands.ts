import { CloseReason, type ConnectResponse, type UpdateAgent } from '@crux/agent-protocol'
import { getMessage } from '../errors.ts'
import type { LinkEnd } from '../link/link.ts'
import type { Releases } from '../releases/releases.ts'
import { type CommandResult, createAnswers, isAnswered, toAnswer } from './answers.ts'
import { createLinkStreams, type StreamContext, toFailure } from './link-streams.ts'

export interface CommandContext extends StreamContext {
  releases: Releases
  update: (command: UpdateAgent) => void
}

const rememberedCommands = 1_000

/** Executes the server's commands in parallel, so that a slow command delays no other. A repeated id is not executed again. */
export function createCommands(context: CommandContext) {
  const { client, engine, log, releases } = context
  const answers = createAnswers(context)
  const seen = new Set<string>()

  function isNew(id: string): boolean {
    if (seen.has(id)) return false
    seen.add(id)
    const [oldest] = seen
    if (seen.size > rememberedCommands && oldest !== undefined) seen.delete(oldest)
    return true
  }

  async function respond(commandId: string, work: Promise<CommandResult>): Promise<void> {
    const result = await work.catch((error: unknown): CommandResult => {
      log.info({ reason: getMessage(error) }, 'a command failed')
      return { case: 'failure', value: toFailure(error) }
    })
    await client.respond({ commandId, result })
  }

  /** One session per link. */
  return function openSession(signal: AbortSignal) {
    const streams = createLinkStreams(context, signal)

    /** @returns why the link must end, for the commands that end it */
    return async function execute({ commandId, command }: ConnectResponse): Promise<LinkEnd | undefined> {
      if (commandId !== '' && !isNew(commandId)) return undefined
      switch (command.case) {
        case 'deploy':
          if (command.value.owner) context.scope.learn(command.value.owner)
          await releases.accept(command.value)
          break
        case 'cancelDeployment':
          if (command.value.release) await releases.cancel(command.value.release)
          break
        case 'preparePrefix':
          if (command.value.owner) await engine.prepareTarget(command.value.owner)
          break
        case 'releasePrefix':
          if (command.value.owner) await engine.releaseTarget(command.value.owner)
          break
        case 'watchContainers':
          await streams.watch(command.value)
          break
        case 'followLog':
          await streams.follow(command.value)
          break
        case 'stopStream':
          streams.stop(command.value.streamId)
          break
        case 'updateAgent':
          context.update(command.value)
          break
        case 'closeLink':
          return toEnd(command.value.reason)
        default:
          if (isAnswered(answers, command)) await respond(commandId, toAnswer(answers, command))
          // A message without an id is no command: it keeps the stream open.
          else if (commandId !== '') log.warn({ commandId }, 'the server sent a command that this agent does not know')
      }
      return undefined
    }
  }
}

function toEnd(reason: CloseReason): LinkEnd {
  if (reason === CloseReason.TOKEN_REVOKED) return 'revoked'
  return reason === CloseReason.REPLACED ? 'replaced' : 'shutdown'
}
