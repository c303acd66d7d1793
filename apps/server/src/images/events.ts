import type { App } from '../context.ts'
import type { DroppedInstance } from './store.ts'

/** The number of ids that fit into one notification of the bus. */
const idsMax = 100
const instancesMax = 40

export function imagesAdded(app: App, versionId: string, imageIds: readonly string[]): void {
  for (let from = 0; from < imageIds.length; from += idsMax)
    app.bus.publish({ type: 'images.added', versionId, imageIds: imageIds.slice(from, from + idsMax) })
}

export function imageDeleted(
  app: App,
  versionId: string,
  imageId: string,
  instances: readonly DroppedInstance[],
): void {
  for (let from = 0; from === 0 || from < instances.length; from += instancesMax)
    app.bus.publish({
      type: 'image.deleted',
      versionId,
      imageId,
      instances: instances.slice(from, from + instancesMax),
    })
}

export const imageTagged = (app: App, versionId: string, imageId: string, tag: string, origin?: string) =>
  app.bus.publish({ type: 'image.tagged', versionId, imageId, tag, origin })

/** For a long order `imageIds` is empty, and subscribers read it from the database. */
export const imagesOrdered = (app: App, versionId: string, imageIds: readonly string[], origin?: string) =>
  app.bus.publish({
    type: 'images.ordered',
    versionId,
    imageIds: imageIds.length > idsMax ? [] : [...imageIds],
    origin,
  })
