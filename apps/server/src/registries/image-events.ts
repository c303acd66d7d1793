import type { HookKind } from '@crux/contract'
import type { App } from '../context.ts'
import type { Queries } from '../db/queries.ts'
import { recordTeamEvent } from '../team-events/index.ts'
import { type HookRegistry, toKey } from './delivery-store.ts'
import type { HookEvent } from './hook-events.ts'
import type { Listeners } from './listener-store.ts'

/** One request of a registry may report a thousand images. No reader of a chat needs more of them than this. */
const eventsMax = 50

/**
 * Records pushed and pulled images as events of the team, in the transaction that counts their delivery once. An image
 * without a tag is a part of another one, such as the image of one platform.
 */
export async function recordImageEvents(
  app: Pick<App, 'jobs' | 'log'>,
  queries: Queries,
  registry: HookRegistry,
  kind: HookKind,
  events: readonly HookEvent[],
  { pushes, pulls }: Listeners,
): Promise<void> {
  const changes = { push: pushes && 'image-pushed', pull: pulls && 'image-pulled' } as const
  const images = events.flatMap(({ id, change, images }) => {
    const type = (change === 'push' || change === 'pull') && changes[change]
    if (!type) return []
    return images.flatMap(({ name, tag, digest }) =>
      tag && isListed(registry, name) ? [{ type, deliveryId: id, name, tag, digest }] : [],
    )
  })
  const at = new Date().toISOString()
  for (const { type, deliveryId, name, tag, digest } of images.slice(0, eventsMax))
    await recordTeamEvent(app, queries, {
      type,
      key: `${type} ${registry.id} ${toKey(kind, deliveryId)} ${name}:${tag}`,
      teamId: registry.teamId,
      at,
      registryId: registry.id,
      registryName: registry.name,
      imageName: name,
      tag,
      ...(digest && { digest }),
    })
  if (images.length > eventsMax)
    app.log.warn({ registryId: registry.id, images: images.length }, 'a delivery reports too many images at once')
}

/** Whether a repository is in the part of the registry that Crux lists. */
export function isListed({ imageNamePrefix }: HookRegistry, repository: string): boolean {
  const prefix = (imageNamePrefix ?? '').toLowerCase().replace(/^\/+|\/+$/g, '')
  return prefix === '' || repository === prefix || repository.startsWith(`${prefix}/`)
}
