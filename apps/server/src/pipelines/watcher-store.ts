import type { PipelineEvent, RegistryType, ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { StoredInput } from './store.ts'

export type WatcherRow = {
  id: string
  name: string
  event: PipelineEvent
  imageNameStartsWith: string
  inputs: StoredInput[]
  createdAt: Date
  registryId: string
  registryName: string
  registryType: RegistryType
}

const columns = sql`w.id, w.name, w.event, w.image_name_starts_with, w.inputs, w.created_at, w.registry_id,
  r.name as registry_name, r.type as registry_type`

export const selectWatchers = (queries: Queries, pipelineId: string) =>
  sql`select ${columns} from crux.pipeline_event_watcher w join crux.registry r on r.id = w.registry_id
    where w.pipeline_id = ${pipelineId} order by w.name, w.id`.rows<WatcherRow>(queries, 'event watchers')

export const selectWatcher = (queries: Queries, pipelineId: string, id: string) =>
  sql`select ${columns} from crux.pipeline_event_watcher w join crux.registry r on r.id = w.registry_id
    where w.id = ${id} and w.pipeline_id = ${pipelineId}`.first<WatcherRow>(queries, 'event watcher')

export const countWatchers = async (queries: Queries, pipelineId: string): Promise<number> =>
  (await sql`select count(*)::int from crux.pipeline_event_watcher where pipeline_id = ${pipelineId}`.value<number>(
    queries,
  )) ?? 0

export type WatcherValues = Pick<WatcherRow, 'name' | 'event' | 'imageNameStartsWith' | 'inputs' | 'registryId'> & {
  userId: string
}

export const insertWatcher = (queries: Queries, pipelineId: string, values: WatcherValues): Promise<string> =>
  sql`insert into crux.pipeline_event_watcher (pipeline_id, registry_id, name, event, image_name_starts_with, inputs,
      created_by, updated_by)
    values (${pipelineId}, ${values.registryId}, ${values.name}, ${values.event}, ${values.imageNameStartsWith},
      ${JSON.stringify(values.inputs)}::jsonb, ${values.userId}, ${values.userId}) returning id`.id(queries)

export const updateWatcher = async (
  queries: Queries,
  pipelineId: string,
  id: string,
  values: WatcherValues,
): Promise<boolean> =>
  (await sql`update crux.pipeline_event_watcher set registry_id = ${values.registryId}, name = ${values.name},
      event = ${values.event}, image_name_starts_with = ${values.imageNameStartsWith},
      inputs = ${JSON.stringify(values.inputs)}::jsonb, updated_at = now(), updated_by = ${values.userId}
    where id = ${id} and pipeline_id = ${pipelineId}`.execute(queries)) === 1

export const deleteWatcher = async (queries: Queries, pipelineId: string, id: string): Promise<boolean> =>
  (await sql`delete from crux.pipeline_event_watcher where id = ${id} and pipeline_id = ${pipelineId}`.execute(
    queries,
  )) === 1

/** A registry of the team, which cannot be deleted until the transaction ends. */
export const lockWatchedRegistry = (queries: Queries, teamId: string, id: string) =>
  sql`select type, url from crux.registry where id = ${id} and team_id = ${teamId} for key share`.first<{
    type: RegistryType
    url: string
  }>(queries, 'watched registry')

export const toWatcher = (row: WatcherRow): ResponseInput<'pipelines.create-event-watcher'> => ({
  id: row.id,
  name: row.name,
  event: row.event,
  filters: { imageNameStartsWith: row.imageNameStartsWith },
  triggerInputs: row.inputs,
  createdAt: row.createdAt,
  registry: { id: row.registryId, name: row.registryName, type: row.registryType },
})
