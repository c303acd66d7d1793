import { type EngineScope, isCovered } from '@crux/rules'
import { getMessage, isEngineError } from '../../../errors.ts'
import type { ListedImage, RemovedImages } from '../../engine.ts'
import { shortImageName, toRepository } from '../../images/image-reference.ts'
import type { ContainerEngine, ImageUser, StoredImage } from '../containers/container-engine.ts'
import type { ImageClaims } from './claims.ts'
import type { FetchedImages } from './fetched.ts'
import { isLocalImage } from './local-image.ts'

export async function listImages(
  engine: ContainerEngine,
  fetched: FetchedImages,
  scope: EngineScope,
): Promise<ListedImage[]> {
  const images = await engine.listImages()
  const ours = await fetched.among(images)
  return images.map((image) => {
    const users = image.containers.filter(({ labels }) => isCovered(labels, scope))
    return {
      id: image.id,
      references: visibleReferences(image, users, ours.has(image.id)),
      sizeBytes: BigInt(image.sizeBytes),
      createdAt: image.createdAt,
      containers: users.map(({ name }) => name),
      fetched: ours.has(image.id),
      local: isLocalImage(image.references.filter((reference) => reference.includes('@'))),
      usedByOthers: users.length < image.containers.length,
    }
  })
}

/**
 * One image may have names of several teams. Another team's name of an image that this team uses is not shown: only the names by which its
 * own containers reference the image.
 */
function visibleReferences({ references }: StoredImage, users: readonly ImageUser[], fetched: boolean): string[] {
  if (fetched || users.length === 0) return [...references]
  const repositories = new Set(users.map(({ image }) => shortImageName(toRepository(image))))
  return references.filter((reference) => repositories.has(shortImageName(toRepository(reference))))
}

/** `freedBytes` is the size of the removed images: layers that another image shares stay on the disk. */
export async function removeImages(
  engine: ContainerEngine,
  { claims, fetched }: { claims: ImageClaims; fetched: FetchedImages },
  ids: readonly string[],
): Promise<RemovedImages> {
  const imageIds: string[] = []
  const kept: { imageId: string; reason: string }[] = []
  let freedBytes = 0
  const images = await engine.listImages()
  const ours = await fetched.among(images)
  const stored = new Map(images.map((image) => [image.id, image]))
  for (const imageId of new Set(ids)) {
    const image = stored.get(imageId)
    const reason = await removeOne(imageId, image)
    if (reason !== undefined) kept.push({ imageId, reason })
    else {
      imageIds.push(imageId)
      freedBytes += image?.sizeBytes ?? 0
    }
  }
  return { imageIds, freedBytes: BigInt(freedBytes), kept }

  /** @returns why the image stays; undefined when it is gone */
  async function removeOne(imageId: string, image: StoredImage | undefined): Promise<string | undefined> {
    // A name could refer to another image by now, and the beginning of an id could match any image.
    if (!/^sha256:[0-9a-f]{64}$/.test(imageId)) return 'It is not the id of an image'
    if (!image) return undefined
    if (!ours.has(imageId)) return 'No release pulled it, or it was tagged outside of Crux'
    try {
      const claimed = await claims.remove(image, () => engine.removeImage(imageId))
      return claimed && `A deployment in progress uses ${claimed}: remove it afterwards`
    } catch (error) {
      if (isEngineError(error, 'unavailable')) throw error
      return getMessage(error)
    }
  }
}
