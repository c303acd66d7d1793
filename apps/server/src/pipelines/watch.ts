import { mergePipelineInputs } from '@crux/rules'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { nameBelowPrefix } from '../registries/index.ts'
import type { TeamEvent } from '../team-events/index.ts'
import { insertEventRun, selectWatchersOfEvent, type WatcherOfEvent } from './watch-store.ts'

const events = { 'image-pushed': 'image-push', 'image-pulled': 'image-pull' } as const

/**
 * Starts the runs of the event watchers that an event of a registry concerns. An event is handled again when any of its
 * handlers fails: the unique key of watcher and event lets it start one run. The service is asked later, so that a slow
 * one delays no other handler.
 */
export async function startWatchedRuns(app: App, event: TeamEvent): Promise<void> {
  if (event.type !== 'image-pushed' && event.type !== 'image-pulled') return
  const { registryId, imageName, tag, digest } = event
  // An image that has no tag is a part of another one, or was pulled by its digest.
  if (!tag) return
  const { pool } = app.database
  const kind = events[event.type]
  const watchers = await selectWatchersOfEvent(pool, { teamId: event.teamId, registryId, event: kind })
  const started = await inTransaction(app.database, async (queries) => {
    const runs: { pipelineId: string; runId: string }[] = []
    for (const watcher of watchers.filter((one) => isWatched(one, imageName))) {
      const runId = await insertEventRun(queries, {
        watcher,
        inputs: mergePipelineInputs(watcher.pipelineInputs, watcher.inputs),
        eventKey: `${watcher.id} ${event.key}`,
        event: { registryId, imageName, tag, digest },
      })
      if (runId !== undefined) runs.push({ pipelineId: watcher.pipelineId, runId })
    }
    return runs
  })
  for (const run of started) app.bus.publish({ type: 'pipeline.run', teamId: event.teamId, ...run, due: true })
}

/** The filter may be written as the registry names the image, or as pages do: without the prefix of the registry. */
export function isWatched(
  { imageNameStartsWith: start, imageNamePrefix }: Pick<WatcherOfEvent, 'imageNameStartsWith' | 'imageNamePrefix'>,
  imageName: string,
): boolean {
  return imageName.startsWith(start) || (nameBelowPrefix(imageNamePrefix, imageName)?.startsWith(start) ?? false)
}
