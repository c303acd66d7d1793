import { type UpdateStage, UpdateState } from '@crux/agent-protocol'
import type { Logger } from '@crux/service-kit'
import { pause } from '../concurrency/pause.ts'
import type { AgentContainers } from '../engines/engine.ts'
import { getMessage } from '../errors.ts'
import type { AgentClient } from '../link/client.ts'
import { isUnauthenticated } from '../link/credentials.ts'
import type { UpdateFile, UpdateFileStore } from './update-file.ts'

const pollMs = 500

const retryMs = 2_000

export interface UpdatesOptions {
  file: UpdateFileStore
  /** Undefined outside of a container: this agent cannot be updated. */
  containers: AgentContainers | undefined
  client: AgentClient
  nodeId: () => string
  architecture: string
  log: Logger
  signal: AbortSignal
}

interface UpdateParts {
  client: AgentClient
  containers: AgentContainers
  log: Logger
  signal: AbortSignal
}

/**
 * Reports the stage until the update has one of the states. A server that does not answer is asked again indefinitely: only it knows which of
 * the two agents holds the valid token.
 *
 * @returns undefined when the token is not valid any more
 * @throws the reason of the signal when it aborts
 */
export async function reportUntil(
  { client, containers, log, signal }: UpdateParts,
  update: Pick<UpdateFile, 'id'> & { name: string },
  stage: UpdateStage,
  states: readonly UpdateState[],
  error = '',
): Promise<UpdateState | undefined> {
  let failure = error
  let lastReason = ''
  for (;;) {
    signal.throwIfAborted()
    try {
      const { state } = await client.reportUpdate({ updateId: update.id, stage, error: failure }, { signal })
      if (states.includes(state)) return state
      failure ||= (await containers.findSuccessorFailure(update.id, update.name)) ?? ''
    } catch (cause) {
      if (isUnauthenticated(cause)) return undefined
      signal.throwIfAborted()
      const reason = getMessage(cause)
      if (reason !== lastReason) log.warn({ reason }, 'the state of the update is not known, asking again')
      lastReason = reason
    }
    await pause(pollMs, signal)
  }
}

/** Asks for the turn of the new agent. @returns whether it may open the journal and connect */
export async function awaitTurn(
  { client, containers, log, signal }: UpdateParts,
  update: UpdateFile,
  info: Parameters<AgentClient['takeOver']>[0]['info'],
): Promise<boolean> {
  let lastReason = ''
  for (;;) {
    signal.throwIfAborted()
    try {
      const previousEnded = !(await containers.isRunning(update.previous.id))
      const { state } = await client.takeOver({ updateId: update.id, info, previousEnded }, { signal })
      if (state === UpdateState.CLOSED || state === UpdateState.COMPLETED) return true
      if (state === UpdateState.FAILED) return false
    } catch (cause) {
      if (isUnauthenticated(cause)) return false
      signal.throwIfAborted()
      const reason = getMessage(cause)
      if (reason !== lastReason) log.warn({ reason }, 'the update cannot continue, trying again')
      lastReason = reason
    }
    await pause(pollMs, signal)
  }
}

/** Only an agent in a container has an update. */
export function toParts({ client, containers, log, signal }: UpdatesOptions): UpdateParts {
  if (!containers) throw new Error('an agent outside of a container has no update')
  return { client, containers, log, signal }
}

/** Repeats work until it succeeds. @throws the reason of the signal when it aborts */
export async function untilDone(
  { log, signal }: Pick<UpdatesOptions, 'log' | 'signal'>,
  message: string,
  work: () => Promise<void>,
): Promise<void> {
  for (;;) {
    signal.throwIfAborted()
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      log.warn({ reason: getMessage(error) }, message)
      await pause(retryMs, signal)
    }
  }
}
