import { ConnectError } from '@connectrpc/connect'
import { type UpdateAgent, UpdateStage, UpdateState } from '@crux/agent-protocol'
import { inBackground, type Logger } from '@crux/service-kit'
import { pause } from '../concurrency/pause.ts'
import type { AgentContainers } from '../engines/engine.ts'
import { getMessage } from '../errors.ts'
import type { AgentClient } from '../link/client.ts'
import { awaitTurn, reportUntil, type UpdateParts } from './report.ts'
import type { UpdateFile, UpdateFileStore } from './update-file.ts'

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

/** How long the old agent may take to end by itself once it knows that the new one has taken over. */
const endMs = 10_000
const retryMs = 2_000

/** Both sides of an update of this agent, in the order of docs/agent-update.md. */
export function createUpdates(options: UpdatesOptions) {
  const { client, containers, file, log, nodeId, signal } = options
  const parts = (): UpdateParts => {
    if (!containers) throw new Error('an agent outside of a container has no update')
    return { client, containers, log, signal }
  }
  let isUpdating = false

  /** Brings everything back to the state before the update. Nothing else may happen before, so it is repeated until it succeeds. */
  async function undo({ id, name }: { id: string; name: string }): Promise<void> {
    await untilDone('the update is not undone yet', async () => {
      await containers?.removeSuccessor(id, name)
      await containers?.restoreName(name)
      await file.remove()
    })
    log.warn({ update: id }, 'the update has failed: this agent continues')
  }

  async function untilDone(message: string, work: () => Promise<void>): Promise<void> {
    for (;;) {
      signal.throwIfAborted()
      try {
        return await work()
      } catch (error) {
        log.warn({ reason: getMessage(error) }, message)
        await pause(retryMs, signal)
      }
    }
  }

  async function getImage(own: AgentContainers, image: string): Promise<string> {
    if (image) return own.pullImage(image)
    let downloadError: Error | undefined
    const chunks = client.downloadAgentImage({ architecture: options.architecture }, { signal })
    try {
      return await own.loadImage(toBytes(chunks, (error) => (downloadError = error)))
    } catch (error) {
      // The engine only says that the file ended early.
      throw downloadError ?? error
    }
  }

  /** @returns once the journal has to be closed; false when the update has failed and is undone */
  async function prepare(own: AgentContainers, { updateId: id, token, image }: UpdateAgent): Promise<boolean> {
    const { name } = own.own
    const ends = [UpdateState.READY, UpdateState.FAILED, UpdateState.COMPLETED]
    let error = ''
    try {
      const imageId = await getImage(own, image)
      if (imageId === own.own.imageId)
        throw new Error('The agent runs from this image already: build or push the image of the new version first.')
      await file.write({ id, nodeId: nodeId(), token, previous: { id: own.own.id, name } })
      await own.startSuccessor({ updateId: id, name, imageId })
    } catch (cause) {
      signal.throwIfAborted()
      error = getMessage(cause)
      log.warn({ update: id, reason: error }, 'the new agent was not started')
    }
    const state = await reportUntil(
      parts(),
      { id, name },
      UpdateStage.WAITING,
      error ? [UpdateState.FAILED] : ends,
      error,
    )
    if (state === UpdateState.READY) return true
    // Without a valid token, the link ends with the reason. Nothing is undone, because the new agent may have the node.
    if (state === UpdateState.FAILED) await undo({ id, name })
    return false
  }

  /**
   * The journal is closed, or was not opened: waits for the end of the update.
   *
   * @returns whether this agent continues
   */
  async function awaitEnd(update: UpdateFile, stage: UpdateStage): Promise<'continues' | 'updated' | 'refused'> {
    const { id, previous } = update
    const state = await reportUntil(parts(), { id, name: previous.name }, stage, [
      UpdateState.COMPLETED,
      UpdateState.FAILED,
    ])
    if (state === UpdateState.FAILED) await undo({ id, name: previous.name })
    if (state === undefined) return 'refused'
    return state === UpdateState.FAILED ? 'continues' : 'updated'
  }

  return {
    /** Executes the command of the server. @param handOver called when the journal has to be closed */
    start(command: UpdateAgent, handOver: () => void): void {
      if (isUpdating) return
      if (!containers) {
        const error = 'The agent does not run in a container of its own: update it where it was started.'
        inBackground('the refusal of an update', () => client.reportUpdate({ updateId: command.updateId, error }))
        return
      }
      isUpdating = true
      inBackground('an update of the agent', async () => {
        try {
          if (await file.read()) {
            const error = 'The container of the previous update is not removed yet: try again in a minute.'
            await reportUntil(
              parts(),
              { id: command.updateId, name: '' },
              UpdateStage.WAITING,
              [UpdateState.FAILED],
              error,
            )
            return
          }
          log.info({ update: command.updateId }, 'the update of this agent starts')
          if (await prepare(containers, command)) handOver()
        } catch (error) {
          if (!signal.aborted) throw error
        } finally {
          isUpdating = false
        }
      })
    },
    /** After `handOver`, once the journal is closed. */
    async finish(): Promise<'continues' | 'updated' | 'refused'> {
      const update = await file.read()
      return update ? awaitEnd(update, UpdateStage.CLOSED) : 'continues'
    },
    /** At the start of an agent that finds an update of an earlier process. */
    async recover(update: UpdateFile): Promise<'continues' | 'updated' | 'refused'> {
      if (containers?.own.id === update.previous.id) return awaitEnd(update, UpdateStage.RESTARTED)
      // Neither of the two agents of the update: this one was installed over them.
      await file.remove()
      return 'continues'
    },
    /** Waits for the turn of the new agent. */
    awaitTurn: (update: UpdateFile, info: Parameters<typeof awaitTurn>[2]) => awaitTurn(parts(), update, info),
    /** The new agent is accepted and has stored its token: the old container goes, and then the record of the update. */
    takenOver(update: UpdateFile): void {
      inBackground('the end of an update', async () => {
        await file.write({ ...update, token: '' })
        for (let waited = 0; waited < endMs && (await containers?.isRunning(update.previous.id)); waited += retryMs / 4)
          await pause(retryMs / 4, signal)
        await untilDone('the container of the previous agent is not removed yet', async () => {
          await containers?.removePrevious(update.previous.id)
          await file.remove()
        })
        log.info({ update: update.id }, 'the update of this agent is completed')
      })
    },
  }
}

async function* toBytes(
  messages: AsyncIterable<{ chunk: Uint8Array }>,
  onError: (error: Error) => void,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const { chunk } of messages) yield chunk
  } catch (error) {
    const { rawMessage } = ConnectError.from(error)
    onError(new Error(rawMessage, { cause: error }))
    throw error
  }
}
