import type { App } from '../context.ts'

/**
 * A pushed tag; without `tag` an image that was pushed by its digest. The repository is named as in the registry, and
 * the delivery is the newest one that reported it.
 */
export type Push = { repository: string; tag?: string; deliveryId?: string }

/** The number of tags in one event of the bus, whose names must fit into one notification. */
const perEvent = 12

/**
 * Tells every server that a registry reported these changes, so that lists of tags are read again and followed tags are
 * checked. They are hints: whatever starts because of one asks the registry for the digest first.
 */
export function publishPushes(app: Pick<App, 'bus'>, registryId: string, pushes: readonly Push[]): void {
  const changed = [...new Map(pushes.map((push) => [JSON.stringify([push.repository, push.tag]), push])).values()]
  for (let from = 0; from < changed.length; from += perEvent)
    app.bus.publish({ type: 'registry.pushed', registryId, pushes: changed.slice(from, from + perEvent) })
}
