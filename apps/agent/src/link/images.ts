import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { Driver } from '../drivers/driver.ts'
import { isEngineError, messageOf } from '../drivers/errors.ts'
import type { ImageClaims } from '../images/claims.ts'
import type { FetchedImages } from '../images/fetched.ts'

export async function imageList({ engine }: Driver, fetched: FetchedImages) {
  const images = await engine.listImages()
  const ours = await fetched.among(images)
  return {
    images: images.map(({ id, references, sizeBytes, createdAt, containers }) => ({
      id,
      references: [...references],
      sizeBytes: BigInt(sizeBytes),
      createdAt: timestampFromDate(createdAt),
      containers: [...containers],
      fetched: ours.has(id),
    })),
  }
}

/**
 * One after another; one that stays is told with the reason and keeps no other. `freedBytes` is what the removed images weighed:
 * layers that another image shares stay on the disk.
 */
export async function removeImages(
  { engine }: Driver,
  { claims, fetched }: { claims: ImageClaims; fetched: FetchedImages },
  ids: readonly string[],
) {
  const imageIds: string[] = []
  const kept: { imageId: string; reason: string }[] = []
  let freedBytes = 0
  const images = await engine.listImages()
  const ours = await fetched.among(images)
  const stored = new Map(images.map((image) => [image.id, image]))
  for (const imageId of new Set(ids)) {
    // A name would mean whatever it leads to by now, and the beginning of an id whichever fits.
    if (!/^sha256:[0-9a-f]{64}$/.test(imageId)) {
      kept.push({ imageId, reason: 'It is not the id of an image' })
      continue
    }
    const image = stored.get(imageId)
    if (!image) {
      imageIds.push(imageId)
      continue
    }
    if (!ours.has(imageId)) {
      kept.push({ imageId, reason: 'No release brought it, or somebody else has named it' })
      continue
    }
    try {
      const claimed = await claims.remove(image, () => engine.removeImage(imageId))
      if (claimed !== undefined) {
        kept.push({ imageId, reason: `A deployment under way uses ${claimed}: remove it afterwards` })
        continue
      }
      imageIds.push(imageId)
      freedBytes += image.sizeBytes
    } catch (error) {
      if (isEngineError(error, 'away')) throw error
      kept.push({ imageId, reason: messageOf(error) })
    }
  }
  return { imageIds, freedBytes: BigInt(freedBytes), kept }
}
