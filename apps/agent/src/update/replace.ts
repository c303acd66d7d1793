import { ConnectError } from '@connectrpc/connect'
import { type UpdateAgent, UpdateStage, UpdateState } from '@crux/agent-protocol'
import type { AgentContainers, AgentImage } from '../engines/engine.ts'
import { getMessage } from '../errors.ts'
import { reportUntil, toParts, type UpdatesOptions, untilDone } from './report.ts'

/**
 * Starts the new agent and waits until it is ready.
 *
 * @returns whether the journal has to be closed; false when the update has failed and is undone
 */
export async function replace(
  options: UpdatesOptions,
  containers: AgentContainers,
  { updateId: id, token, image }: UpdateAgent,
): Promise<boolean> {
  const { file, log, nodeId, signal } = options
  const { own } = containers
  const { name } = own
  log.info({ update: id }, 'the update of this agent starts')
  let error = ''
  try {
    const next = await getImage(options, containers, image)
    if (next.id === own.imageId)
      throw new Error('The agent runs from this image already: build or push the image of the new version first.')
    await file.write({ id, nodeId: nodeId(), token, previous: { id: own.id, name } })
    await containers.startSuccessor({ updateId: id, name, image: next })
  } catch (cause) {
    signal.throwIfAborted()
    error = getMessage(cause)
    log.warn({ update: id, reason: error }, 'the new agent was not started')
  }
  const ends = error ? [UpdateState.FAILED] : [UpdateState.READY, UpdateState.FAILED, UpdateState.COMPLETED]
  const state = await reportUntil(toParts(options), { id, name }, UpdateStage.WAITING, ends, error)
  // Without a valid token, the link ends with the reason. Nothing is undone, because the new agent may have the node.
  if (state === UpdateState.FAILED) await undo(options, { id, name })
  return state === UpdateState.READY
}

/** Brings everything back to the state before the update. Nothing else may happen before, so it is repeated until it succeeds. */
export async function undo(options: UpdatesOptions, { id, name }: { id: string; name: string }): Promise<void> {
  await untilDone(options, 'the update is not undone yet', async () => {
    await options.containers?.removeSuccessor(id, name)
    await options.containers?.restoreName(name)
    await options.file.remove()
  })
  options.log.warn({ update: id }, 'the update has failed: this agent continues')
}

async function getImage(
  { architecture, client, signal }: UpdatesOptions,
  containers: AgentContainers,
  image: string,
): Promise<AgentImage> {
  if (image) return containers.pullImage(image)
  let downloadError: Error | undefined
  const chunks = client.downloadAgentImage({ architecture }, { signal })
  try {
    return await containers.loadImage(toBytes(chunks, (error) => (downloadError = error)))
  } catch (error) {
    // The engine only says that the file ended early.
    throw downloadError ?? error
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
