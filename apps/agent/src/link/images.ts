import { timestampFromDate } from '@bufbuild/protobuf/wkt'
import type { Driver } from '../drivers/driver.ts'
import { isEngineError, messageOf } from '../drivers/errors.ts'

export async function imageList({ engine }: Driver) {
  const images = await engine.listImages()
  return {
    images: images.map(({ id, references, sizeBytes, createdAt, containers }) => ({
      id,
      references: [...references],
      sizeBytes: BigInt(sizeBytes),
      createdAt: timestampFromDate(createdAt),
      containers: [...containers],
    })),
  }
}

/**
 * One after another; one that stays is told with the reason and keeps no other. `freedBytes` is what the removed images weighed:
 * layers that another image shares stay on the disk.
 */
export async function removeImages({ engine }: Driver, ids: readonly string[]) {
  const imageIds: string[] = []
  const kept: { imageId: string; reason: string }[] = []
  let freedBytes = 0
  const sizes = new Map((await engine.listImages()).map(({ id, sizeBytes }) => [id, sizeBytes]))
  for (const imageId of new Set(ids)) {
    // A name would mean whatever it leads to by now, and the beginning of an id whichever fits.
    if (!/^sha256:[0-9a-f]{64}$/.test(imageId)) {
      kept.push({ imageId, reason: 'It is not the id of an image' })
      continue
    }
    try {
      await engine.removeImage(imageId)
      imageIds.push(imageId)
      freedBytes += sizes.get(imageId) ?? 0
    } catch (error) {
      if (isEngineError(error, 'away')) throw error
      kept.push({ imageId, reason: messageOf(error) })
    }
  }
  return { imageIds, freedBytes: BigInt(freedBytes), kept }
}
