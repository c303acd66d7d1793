import type { PipelineEvent } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { RunEvent } from '../db/schema/pipelines.ts'
import type { StoredInput } from './store.ts'

export type WatcherOfEvent = {
  id: string
  name: string
  pipelineId: string
  imageNameStartsWith: string
  inputs: StoredInput[]
  pipelineInputs: StoredInput[]
  /** The prefix of the registry. */
  imageNamePrefix: string | null
}

/** The watchers of a registry; the team is checked once more, of the registry and of the pipeline. */
export const selectWatchersOfEvent = (
  queries: Queries,
  { teamId, registryId, event }: { teamId: string; registryId: string; event: PipelineEvent },
) =>
  sql`select w.id, w.name, w.pipeline_id, w.image_name_starts_with, w.inputs, p.inputs as pipeline_inputs,
      r.image_name_prefix
    from crux.pipeline_event_watcher w join crux.pipeline p on p.id = w.pipeline_id and p.team_id = ${teamId}
    join crux.registry r on r.id = w.registry_id and r.team_id = ${teamId}
    where w.registry_id = ${registryId} and w.event = ${event} order by w.id`.rows<WatcherOfEvent>(
    queries,
    'watchers of event',
  )

/**
 * A pipeline that moves at this moment has moved before its run is stored, so that the run belongs to the new place.
 *
 * @returns undefined when the event has started a run of this watcher before, or the watcher was deleted meanwhile
 */
export const insertEventRun = (
  queries: Queries,
  run: { watcher: WatcherOfEvent; inputs: readonly StoredInput[]; eventKey: string; event: RunEvent },
) =>
  sql`insert into crux.pipeline_run (pipeline_id, moves, status, inputs, creator_type, created_by_id, created_by_name,
      event_watcher_id, event_key, event, next_check_at)
    select w.pipeline_id, p.moves, 'queued', ${JSON.stringify(run.inputs)}::jsonb, 'eventWatcher', w.id::text,
      w.name, w.id, ${run.eventKey}, ${JSON.stringify(run.event)}::jsonb, now()
    from crux.pipeline_event_watcher w join crux.pipeline p on p.id = w.pipeline_id where w.id = ${run.watcher.id}
      for key share of p
    on conflict (pipeline_id, event_key) where event_key is not null do nothing returning id`.value(
    queries,
    'insert run of event',
  )
