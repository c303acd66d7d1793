import { createQueue } from '@crux/service-kit'
import type { App } from '../context.ts'
import { type ChannelHandlers, createAudience, type Subscriber } from '../live/index.ts'
import type { Browser } from '../registries/index.ts'
import { findVersion } from '../versions/index.ts'
import { addImages, getImage, orderImages, removeImage, setTag } from './actions.ts'
import { selectImageIds, selectImagesById } from './store.ts'

/** The live channels of a version's page. Changes are read once per process for all subscribers. */
export function versionChannels(app: App, browser: Browser): ChannelHandlers<'version'> {
  const audience = createAudience<Subscriber<'version'>>()
  const listSubscribers = (versionId: string, except?: string) =>
    audience.of(versionId).filter((subscriber) => subscriber.id !== except)
  const inTurn = createQueue()
  const safely = (versionId: string, work: () => Promise<void>) =>
    inTurn(versionId, work).catch((err: unknown) =>
      app.log.warn({ err, versionId }, 'a change of a version was not sent'),
    )

  async function publishAdded(versionId: string, imageIds: readonly string[]) {
    if (listSubscribers(versionId).length === 0) return
    const images = await selectImagesById(app.database.pool, versionId, imageIds)
    for (const subscriber of listSubscribers(versionId)) subscriber.send('images-added', { images })
  }
  /**
   * Sends only the tag. `image` answers only `get-image`, because existing clients append every `image` that they
   * receive to their list. Clients that show the labels or the configuration of the new tag request the image.
   */
  async function publishTagged(versionId: string, imageId: string, tag: string, origin: string | undefined) {
    for (const subscriber of listSubscribers(versionId, origin)) subscriber.send('image-tag-updated', { imageId, tag })
  }
  async function publishOrdered(versionId: string, imageIds: readonly string[], origin: string | undefined) {
    if (listSubscribers(versionId, origin).length === 0) return
    const ids = imageIds.length > 0 ? [...imageIds] : await selectImageIds(app.database.pool, versionId)
    for (const subscriber of listSubscribers(versionId, origin)) subscriber.send('images-were-reordered', ids)
  }

  async function publishDeleted(versionId: string, imageId: string) {
    for (const subscriber of listSubscribers(versionId)) subscriber.send('image-deleted', { imageId })
  }

  app.bus.on('images.added', ({ versionId, imageIds }) => {
    safely(versionId, () => publishAdded(versionId, imageIds))
  })
  app.bus.on('image.deleted', ({ versionId, imageId }) => {
    safely(versionId, () => publishDeleted(versionId, imageId))
  })
  app.bus.on('image.tagged', ({ versionId, imageId, tag, origin }) => {
    safely(versionId, () => publishTagged(versionId, imageId, tag, origin))
  })
  app.bus.on('images.ordered', ({ versionId, imageIds, origin }) => {
    safely(versionId, () => publishOrdered(versionId, imageIds, origin))
  })

  return {
    version: {
      async open(subscriber) {
        await findVersion(app.database.pool, subscriber.team, subscriber.params)
        audience.join(subscriber.params.versionId, subscriber)
      },
      messages: {
        'add-images': async (subscriber, { registryImages }) =>
          void (await addImages(app, browser, subscriber, subscriber.params, registryImages)),
        'delete-image': (subscriber, { imageId }) => removeImage(app, subscriber, subscriber.params, imageId),
        async 'set-image-tag'(subscriber, { imageId, tag }) {
          await setTag(app, browser, subscriber, subscriber.params, imageId, tag, subscriber.id)
          subscriber.send('patch-received', null)
        },
        async 'order-images'(subscriber, ids) {
          await orderImages(app, subscriber, subscriber.params, ids, subscriber.id)
          subscriber.send('patch-received', null)
        },
        async 'get-image'(subscriber, { id }) {
          subscriber.send('image', await getImage(app, subscriber, subscriber.params, id))
        },
      },
    },
  }
}
