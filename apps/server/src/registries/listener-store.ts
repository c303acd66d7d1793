import { type Queries, sql } from '../db/queries.ts'
import type { HookRegistry } from './delivery-store.ts'

/** Whether notifications or event watchers wait for images of a registry. A busy registry reports many pulls, which otherwise leave no trace. */
export type Listeners = { pushes: boolean; pulls: boolean }

const hasListener = (
  { id, teamId }: Pick<HookRegistry, 'id' | 'teamId'>,
  event: { notification: 'image-pushed' | 'image-pulled'; watcher: 'image-push' | 'image-pull' },
) => sql`(
  exists (select from crux.notification
    where team_id = ${teamId} and active and ${event.notification} = any(enabled_events))
  or exists (select from crux.pipeline_event_watcher
    where registry_id = ${id} and event = ${event.watcher}))`

export const selectListeners = (queries: Queries, registry: Pick<HookRegistry, 'id' | 'teamId'>): Promise<Listeners> =>
  sql`select ${hasListener(registry, { notification: 'image-pushed', watcher: 'image-push' })} as pushes,
    ${hasListener(registry, { notification: 'image-pulled', watcher: 'image-pull' })} as pulls`.one<Listeners>(
    queries,
    'listeners of a registry',
  )
