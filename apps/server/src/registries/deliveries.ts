import type { DeliveryResult, HookKind, ResponseInput } from '@crux/contract'
import type { Caller } from '../access/index.ts'
import type { App } from '../context.ts'
import { inTransaction } from '../db/transaction.ts'
import { findRegistry } from './actions.ts'
import * as store from './delivery-store.ts'
import type { HookEvent } from './hook-events.ts'
import { isListed, recordImageEvents } from './image-events.ts'
import { selectListeners } from './listener-store.ts'
import { type Push, publishPushes } from './pushes.ts'

/** Longer than the services repeat deliveries: GitHub offers it for three days. */
const keyDays = 7

export async function listDeliveries(
  app: App,
  { team }: Caller,
  registryId: string,
): Promise<ResponseInput<'registries.list-deliveries'>> {
  await findRegistry(app, team, registryId)
  return store.selectDeliveries(app.database.pool, registryId)
}

/**
 * Stores verified events that were not received before, and acts on them. Repetitions are found by the primary key, so
 * that a delivery counts once also when several servers receive it at the same time.
 */
export async function receiveEvents(
  app: App,
  registry: store.HookRegistry,
  kind: HookKind,
  events: readonly HookEvent[],
): Promise<void> {
  const heard = await selectListeners(app.database.pool, registry)
  const received = events.filter(({ change }) => change !== 'pull' || heard.pulls)
  if (received.length === 0) return
  const fresh = await inTransaction(app.database, async (queries) => {
    const isNew = await store.insertKeys(
      queries,
      registry.id,
      received.map(({ id }) => store.toKey(kind, id)),
    )
    const counted = received.filter(({ id }) => isNew.delete(store.toKey(kind, id)))
    await recordImageEvents(app, queries, registry, kind, counted, heard)
    const deliveries = counted
      .filter(({ change }) => change !== 'pull')
      .map((event) => ({ kind, ...event, result: toResult(registry, event) }))
    const ids = await store.insertDeliveries(queries, registry.id, deliveries)
    const unlisted = deliveries.length - ids.length
    return deliveries.map((delivery, index) => ({ ...delivery, deliveryId: ids[index - unlisted] }))
  })
  const accepted = fresh.filter(({ result }) => result === 'accepted')
  const changes = accepted.filter(({ change }) => change === 'push' || change === 'delete')
  // A server that stops here loses only a hint: lists of tags expire, and digests are also checked regularly.
  publishPushes(
    app,
    registry.id,
    changes.flatMap(({ images, deliveryId }) => images.map((image) => toPush(image, deliveryId))),
  )
}

/** Whether this event was received before; for callers that ask other services only about new ones. */
export const isRepeated = (app: App, registryId: string, kind: HookKind, { id }: HookEvent): Promise<boolean> =>
  store.hasKey(app.database.pool, registryId, store.toKey(kind, id))

/** Deletes the keys of old deliveries every hour. */
export function cleanDeliveryKeys(app: App): void {
  app.jobs.schedule('delivery-keys-clean', '23 * * * *', () => store.deleteOldKeys(app.database.pool, keyDays))
}

function toResult(registry: store.HookRegistry, { change, images }: HookEvent): DeliveryResult {
  if (change === 'unknown') return 'unknown'
  return change !== 'none' && images.some(({ name }) => isListed(registry, name)) ? 'accepted' : 'ignored'
}

const toPush = ({ name, tag }: HookEvent['images'][number], deliveryId: string | undefined): Push => ({
  repository: name,
  ...(tag && { tag }),
  ...(deliveryId && { deliveryId }),
})
