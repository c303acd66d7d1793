import { type Body, CruxError, limits, type PipelineEvent, type ResponseInput } from '@crux/contract'
import { offeredHookKinds } from '@crux/rules'
import type { Caller, TeamContext } from '../access/index.ts'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { inTransaction } from '../db/transaction.ts'
import { recordEvent } from '../system/index.ts'
import { findPipeline } from './actions.ts'
import { assertInputSize, withIds } from './inputs.ts'
import { lockPipeline } from './store.ts'
import * as store from './watcher-store.ts'

type Write = Body<'pipelines.create-event-watcher'>

/** @throws CruxError notFound `pipelineId`, `registryId`; preconditionFailed when the pipeline has too many */
export async function createWatcher(
  app: App,
  { team, actor }: Caller,
  pipelineId: string,
  write: Write,
): Promise<ResponseInput<'pipelines.create-event-watcher'>> {
  const { pool } = app.database
  await findPipeline(pool, team, pipelineId)
  const id = await inTransaction(app.database, async (queries) => {
    // Watchers that are created at the same time are counted one after another.
    await lockPipeline(queries, team.id, pipelineId)
    if ((await store.countWatchers(queries, pipelineId)) >= limits.eventWatchers)
      throw new CruxError('preconditionFailed', {
        property: 'pipelineId',
        description: `A pipeline has at most ${limits.eventWatchers} event watchers: delete one first.`,
      })
    return store.insertWatcher(queries, pipelineId, await toValues(queries, team, actor.id, write))
  })
  recordEvent(app, { teamId: team.id, pipelineId, eventWatcherId: id }, 'event watcher created')
  const row = await store.selectWatcher(pool, pipelineId, id)
  if (!row) throw watcherNotFound(id)
  return store.toWatcher(row)
}

/** @throws CruxError notFound `pipelineId`, `eventWatcherId`, `registryId` */
export async function updateWatcher(
  app: App,
  { team, actor }: Caller,
  { pipelineId, eventWatcherId }: { pipelineId: string; eventWatcherId: string },
  write: Write,
): Promise<void> {
  await findPipeline(app.database.pool, team, pipelineId)
  await inTransaction(app.database, async (queries) => {
    const values = await toValues(queries, team, actor.id, write)
    if (!(await store.updateWatcher(queries, pipelineId, eventWatcherId, values))) throw watcherNotFound(eventWatcherId)
  })
  recordEvent(app, { teamId: team.id, pipelineId, eventWatcherId }, 'event watcher updated')
}

/** @throws CruxError notFound `pipelineId`, `eventWatcherId` */
export async function deleteWatcher(
  app: App,
  { team }: Caller,
  { pipelineId, eventWatcherId }: { pipelineId: string; eventWatcherId: string },
): Promise<void> {
  await findPipeline(app.database.pool, team, pipelineId)
  if (!(await store.deleteWatcher(app.database.pool, pipelineId, eventWatcherId))) throw watcherNotFound(eventWatcherId)
  recordEvent(app, { teamId: team.id, pipelineId, eventWatcherId }, 'event watcher deleted')
}

async function toValues(
  queries: Queries,
  team: TeamContext,
  userId: string,
  { name, event, filters, registryId, triggerInputs }: Write,
): Promise<store.WatcherValues> {
  assertInputSize(triggerInputs, 'triggerInputs')
  await assertReports(queries, team, registryId, event)
  const imageNameStartsWith = filters.imageNameStartsWith ?? ''
  return { name, event, imageNameStartsWith, inputs: withIds(triggerInputs), registryId, userId }
}

/** @throws CruxError notFound `registryId`; invalidArgument `registryId` for a registry that never reports such an event */
async function assertReports(queries: Queries, team: TeamContext, registryId: string, event: PipelineEvent) {
  const registry = await store.lockWatchedRegistry(queries, team.id, registryId)
  if (!registry) throw new CruxError('notFound', { property: 'registryId', value: registryId })
  const kinds = offeredHookKinds(registry)
  const reports = event === 'image-push' ? kinds.length > 0 : kinds.includes('v2') || kinds.includes('harbor')
  if (reports) return
  throw new CruxError('invalidArgument', {
    property: 'registryId',
    value: registryId,
    description:
      kinds.length > 0
        ? 'This registry reports pushes only: choose the event image-push.'
        : 'Registries of this type report nothing to Crux: choose one whose page offers hooks.',
  })
}

const watcherNotFound = (id: string) => new CruxError('notFound', { property: 'eventWatcherId', value: id })
