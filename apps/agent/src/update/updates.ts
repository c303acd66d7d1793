import { type UpdateAgent, UpdateStage, UpdateState } from '@crux/agent-protocol'
import { inBackground } from '@crux/service-kit'
import { pause } from '../concurrency/pause.ts'
import { replace, undo } from './replace.ts'
import { awaitTurn, reportUntil, toParts, type UpdatesOptions, untilDone } from './report.ts'
import type { UpdateFile } from './update-file.ts'

/** Whether this agent continues after an update in which it was the old one. */
type End = 'continues' | 'updated' | 'refused'

/** How long the old agent may take to end by itself once it knows that the new one has taken over. */
const endMs = 10_000
const endPollMs = 500

/** Both sides of an update of this agent, in the order of docs/agent-update.md. */
export function createUpdates(options: UpdatesOptions) {
  const { client, containers, file, log, signal } = options
  let isUpdating = false

  const refuse = (updateId: string, error: string) =>
    inBackground('the refusal of an update', () => client.reportUpdate({ updateId, error }))

  /** The journal is closed, or was not opened: waits for the end of the update. */
  async function awaitEnd({ id, previous: { name } }: UpdateFile, stage: UpdateStage): Promise<End> {
    const ends = [UpdateState.COMPLETED, UpdateState.FAILED]
    const state = await reportUntil(toParts(options), { id, name }, stage, ends)
    if (state === undefined) return 'refused'
    if (state !== UpdateState.FAILED) return 'updated'
    await undo(options, { id, name })
    return 'continues'
  }

  return {
    /** Executes the command of the server. @param closeJournal called when the journal has to be closed */
    start(command: UpdateAgent, closeJournal: () => void): void {
      if (isUpdating) return
      if (!containers) {
        refuse(command.updateId, 'The agent does not run in a container of its own: update it where it was started.')
        return
      }
      isUpdating = true
      inBackground('an update of the agent', async () => {
        try {
          if (await file.read())
            refuse(command.updateId, 'The container of the previous update is not removed yet: try again in a minute.')
          else if (await replace(options, containers, command)) closeJournal()
        } catch (error) {
          if (!signal.aborted) throw error
        } finally {
          isUpdating = false
        }
      })
    },
    /** After `closeJournal`, once the journal is closed. */
    async finish(): Promise<End> {
      const update = await file.read()
      return update ? awaitEnd(update, UpdateStage.CLOSED) : 'continues'
    },
    /** At the start of an agent that finds an update of an earlier process. */
    async recover(update: UpdateFile): Promise<End> {
      if (containers?.own.id === update.previous.id) return awaitEnd(update, UpdateStage.RESTARTED)
      // Neither of the two agents of the update: this one was installed over them.
      await file.remove()
      return 'continues'
    },
    /** Waits for the turn of the new agent. */
    awaitTurn: (update: UpdateFile, info: Parameters<typeof awaitTurn>[2]) => awaitTurn(toParts(options), update, info),
    /** The new agent is accepted and has stored its token: the old container goes, and then the record of the update. */
    takenOver(update: UpdateFile): void {
      inBackground('the end of an update', async () => {
        try {
          await file.write({ ...update, token: '' })
          await untilDone(options, 'the container of the previous agent is not removed yet', async () => {
            const until = performance.now() + endMs
            while (performance.now() < until && (await containers?.isRunning(update.previous.id)))
              await pause(endPollMs, signal)
            const reason = await containers?.removePrevious(update.previous.id)
            if (reason) log.info({ reason }, 'the image of the previous agent stays')
            await file.remove()
          })
          log.info({ update: update.id }, 'the update of this agent is completed')
        } catch (error) {
          // The next process continues with it.
          if (!signal.aborted) throw error
        }
      })
    },
  }
}
