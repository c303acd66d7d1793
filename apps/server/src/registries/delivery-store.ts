import type { DeliveryResult, HookKind, ResponseInput } from '@crux/contract'
import { type Queries, sql } from '../db/queries.ts'
import type { HookEvent } from './hook-events.ts'
import type { RegistryRow } from './store.ts'

/** The number of deliveries that a registry's page shows, and that are kept. */
const listedMax = 100

/** The registry of a delivery. */
export type HookRegistry = Pick<RegistryRow, 'id' | 'name' | 'imageNamePrefix'> & { teamId: string }

export const selectHookRegistry = (queries: Queries, teamSlug: string, id: string) =>
  sql`select r.id, r.team_id, r.name, r.image_name_prefix from crux.registry r join crux.team t on t.id = r.team_id
    where r.id = ${id} and t.slug = ${teamSlug}`.first<HookRegistry>(queries, 'registry of a hook')

export const toKey = (kind: HookKind, deliveryId: string): string => `${kind} ${deliveryId}`

/**
 * Inserts the keys that do not exist yet. They are inserted in their order, so that transactions with the same keys do
 * not wait for each other in a circle.
 *
 * @returns the new ones
 */
export async function insertKeys(queries: Queries, registryId: string, keys: readonly string[]): Promise<Set<string>> {
  const sorted = [...new Set(keys)].sort()
  return new Set(
    await sql`insert into crux.registry_delivery_key (registry_id, key)
      select ${registryId}, key from unnest(${sorted}::text[]) with ordinality as given (key, position)
      order by position on conflict do nothing returning key`.column(queries, 'insert delivery keys'),
  )
}

export const hasKey = async (queries: Queries, registryId: string, key: string): Promise<boolean> =>
  (await sql`select from crux.registry_delivery_key
    where registry_id = ${registryId} and key = ${key}`.execute(queries, 'delivery key')) === 1

export async function deleteOldKeys(queries: Queries, days: number): Promise<void> {
  await sql`delete from crux.registry_delivery_key
    where received_at < now() - make_interval(days => ${days})`.execute(queries)
}

export type NewDelivery = Pick<HookEvent, 'event' | 'images'> & { kind: HookKind; result: DeliveryResult }

/**
 * Inserts deliveries, oldest first, and deletes those that are no longer listed.
 *
 * @returns the ids of the inserted ones, the last of those that were given, in their order
 */
export async function insertDeliveries(
  queries: Queries,
  registryId: string,
  deliveries: readonly NewDelivery[],
): Promise<string[]> {
  const kept = deliveries.slice(-listedMax)
  if (kept.length === 0) return []
  // Ids grow with the position, so that their order is the order of the deliveries.
  const ids = await sql`insert into crux.registry_delivery (registry_id, kind, event, images, result)
    select ${registryId}, kind, event, images::jsonb, result from unnest(${kept.map(({ kind }) => kind)}::text[],
      ${kept.map(({ event }) => event)}::text[], ${kept.map(({ images }) => JSON.stringify(images))}::text[],
      ${kept.map(({ result }) => result)}::text[]) as given (kind, event, images, result)
    returning id`.column(queries, 'insert deliveries')
  // Rows that another transaction is deleting at this moment are left to it.
  await sql`delete from crux.registry_delivery where id in (
      select id from crux.registry_delivery where registry_id = ${registryId}
      order by id desc offset ${listedMax} for update skip locked)`.execute(queries, 'trim deliveries')
  return ids.sort()
}

type DeliveryRow = ResponseInput<'registries.list-deliveries'>[number]

export const selectDeliveries = (queries: Queries, registryId: string): Promise<DeliveryRow[]> =>
  sql`select d.id, d.kind, d.event, d.received_at, d.images, d.result, started.releases from (
      select * from crux.registry_delivery where registry_id = ${registryId} order by id desc limit ${listedMax}) d
    cross join lateral (
      select coalesce(json_agg(json_build_object('deploymentId', r.deployment_id, 'number', r.number) order by r.id), '[]')
        as releases
      from crux.release r where r.delivery_ids @> array[d.id] and r.delivery_ids <> '{}') started
    order by d.id desc`.rows<DeliveryRow>(queries, 'deliveries of registry')
