import type { App } from '../context.ts'
import type { ChannelHandlers, Subscriber } from '../live/handlers.ts'
import { createTurns } from '../live/turns.ts'
import type { Browser } from '../registries/browse.ts'
import { findVersion } from '../versions/actions.ts'
import { addImages, getImage, orderImages, removeImage, setTag } from './actions.ts'
import { selectImageIds, selectImagesById } from './store.ts'

type Looker = Subscriber<'version'>

/** The live side of a version's page. What changed is read once per process, however many look. */
export function versionChannels(app: App, browser: Browser): ChannelHandlers<'version'> {
  const lookers = new Map<string, Set<Looker>>()
  const looking = (versionId: string, except?: string) =>
    [...(lookers.get(versionId) ?? [])].filter((looker) => looker.id !== except)
  const inTurn = createTurns()
  const safely = (versionId: string, work: () => Promise<void>) =>
    inTurn(versionId, work).catch((err: unknown) =>
      app.log.warn({ err, versionId }, 'a change of a version was not sent'),
    )

  async function tellAdded(versionId: string, imageIds: readonly string[]) {
    if (looking(versionId).length === 0) return
    const images = await selectImagesById(app.database.pool, versionId, imageIds)
    for (const looker of looking(versionId)) looker.send('images-added', { images })
  }
  /**
   * Sends the tag alone. `image` answers only `get-image`: existing clients append every `image` that they receive to their
   * list. Clients that show the labels or the configuration of the new tag ask for the image.
   */
  async function tellTagged(versionId: string, imageId: string, tag: string, origin: string | undefined) {
    for (const looker of looking(versionId, origin)) looker.send('image-tag-updated', { imageId, tag })
  }
  async function tellOrdered(versionId: string, imageIds: readonly string[], origin: string | undefined) {
    if (looking(versionId, origin).length === 0) return
    const ids = imageIds.length > 0 ? [...imageIds] : await selectImageIds(app.database.pool, versionId)
    for (const looker of looking(versionId, origin)) looker.send('images-were-reordered', ids)
  }

  async function tellDeleted(versionId: string, imageId: string) {
    for (const looker of looking(versionId)) looker.send('image-deleted', { imageId })
  }

  app.bus.on('images.added', ({ versionId, imageIds }) => {
    safely(versionId, () => tellAdded(versionId, imageIds))
  })
  app.bus.on('image.deleted', ({ versionId, imageId }) => {
    safely(versionId, () => tellDeleted(versionId, imageId))
  })
  app.bus.on('image.tagged', ({ versionId, imageId, tag, origin }) => {
    safely(versionId, () => tellTagged(versionId, imageId, tag, origin))
  })
  app.bus.on('images.ordered', ({ versionId, imageIds, origin }) => {
    safely(versionId, () => tellOrdered(versionId, imageIds, origin))
  })

  return {
    version: {
      async open(looker) {
        const { versionId } = looker.params
        await findVersion(app.database.pool, looker.team, looker.params)
        const all = lookers.get(versionId) ?? new Set()
        lookers.set(versionId, all.add(looker))
        looker.onLeave(() => {
          all.delete(looker)
          if (all.size === 0 && lookers.get(versionId) === all) lookers.delete(versionId)
        })
      },
      messages: {
        'add-images': async (looker, { registryImages }) =>
          void (await addImages(app, browser, looker, looker.params, registryImages)),
        'delete-image': (looker, { imageId }) => removeImage(app, looker.team, looker.params, imageId),
        async 'set-image-tag'(looker, { imageId, tag }) {
          await setTag(app, browser, looker, looker.params, imageId, tag, looker.id)
          looker.send('patch-received', null)
        },
        async 'order-images'(looker, ids) {
          await orderImages(app, looker, looker.params, ids, looker.id)
          looker.send('patch-received', null)
        },
        async 'get-image'(looker, { id }) {
          looker.send('image', await getImage(app, looker.team, looker.params, id))
        },
        // Presence is the hub's: it answers these before a channel sees them.
        'focus-input': async () => undefined,
        'blur-input': async () => undefined,
      },
    },
  }
}
