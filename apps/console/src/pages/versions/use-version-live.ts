import type { ResponseOf } from '@crux/contract'
import i18n from 'i18next'
import { useRef } from 'react'
import { applyLiveUpdate, queryClient, queryKey } from '../../api/client.ts'
import { useChannel } from '../../api/live.ts'
import { useDenied } from '../../api/me.ts'
import { toastSuccess } from '../../components/toasts.tsx'

type Ids = { teamSlug: string; projectId: string; versionId: string }
type Version = ResponseOf<'versions.get'>
export type VersionImage = Version['images'][number]

/** The images of a version as everybody sees them: changes go over the live channel, those of others come in. */
export function useVersionLive(ids: Ids) {
  const key = queryKey('versions.get', { params: ids })
  const change = (next: (images: VersionImage[]) => VersionImage[]) =>
    applyLiveUpdate<Version>(key, (version) => ({ ...version, images: next(version.images) }))
  const setTagHere = (imageId: string, tag: string) =>
    change((images) => images.map((image) => (image.id === imageId ? { ...image, tag } : image)))
  const setOrderHere = (order: readonly string[]) =>
    change((images) =>
      images.map((image) => ({ ...image, order: order.indexOf(image.id) })).sort((a, b) => a.order - b.order),
    )

  const changesUnderway = useRef(0)
  const readAgain = () => {
    changesUnderway.current = 0
    void queryClient.invalidateQueries({ queryKey: key })
  }

  const send = useChannel('version', ids, {
    // Refetches after a reconnect, and after a refusal of an optimistic update.
    ready: readAgain,
    refused: readAgain,
    // A list that was read while a tag or an order was on its way may have the previous one, and the sender of a change gets no update for it.
    'patch-received': () => {
      changesUnderway.current -= 1
      if (changesUnderway.current <= 0) readAgain()
    },
    'images-added': ({ images: added }) => {
      change((images) => [...images.filter((image) => !added.some((one) => one.id === image.id)), ...added])
      toastSuccess(i18n.t('versions:image.addedToast', { count: added.length }))
      void queryClient.invalidateQueries({ queryKey: queryKey('dashboard.get') })
    },
    'image-deleted': ({ imageId }) => change((images) => images.filter((image) => image.id !== imageId)),
    'image-tag-updated': ({ imageId, tag }) => {
      setTagHere(imageId, tag)
      // The message carries the tag alone; its labels and what they added to the configuration come with the image.
      send('get-image', { id: imageId })
    },
    'images-were-reordered': setOrderHere,
    image: (image) => change((images) => images.map((one) => (one.id === image.id ? image : one))),
  })

  const denied = {
    addImages: useDenied('version/add-images'),
    removeImage: useDenied('version/delete-image'),
    setTag: useDenied('version/set-image-tag'),
    setOrder: useDenied('version/order-images'),
  }
  return {
    /** By control: why it is disabled for this user. */
    denied,
    addImages: (registryImages: { registryId: string; images: string[] }[]) => send('add-images', { registryImages }),
    removeImage: (imageId: string) => send('delete-image', { imageId }),
    // The sender gets only a confirmation, so its own view is updated immediately.
    setTag: (imageId: string, tag: string) => {
      setTagHere(imageId, tag)
      changesUnderway.current += 1
      send('set-image-tag', { imageId, tag })
    },
    setOrder: (order: string[]) => {
      setOrderHere(order)
      changesUnderway.current += 1
      send('order-images', order)
    },
  }
}

export type VersionLive = ReturnType<typeof useVersionLive>
