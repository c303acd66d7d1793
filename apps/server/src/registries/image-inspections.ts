import type { RegistryType } from '@crux/contract'
import { createAnswerCache } from './answer-cache.ts'
import type { ExposedPort } from './api/registry-api.ts'
import type { RegistryClient } from './clients.ts'
import { createSlots } from './slots.ts'

export type ImageInspection = { exists: boolean; exposedPorts: readonly ExposedPort[] }

/** For some 10,000 images. */
const bytesMax = 8 * 1_024 * 1_024
/** Images of one registry that this process inspects at a time. */
const atOnce = 5

/**
 * What a user learns of an image before they run it. It is cached like tags, because the dialog asks while the user types, and because the
 * configuration of an image counts as a pull in some registries.
 *
 * @param requested counts the images that are read
 */
export function createImageInspections(requested: (type: RegistryType) => void) {
  const inspections = createAnswerCache<ImageInspection>(bytesMax, getSize)
  const inSlot = createSlots(atOnce)

  async function inspect({ api, type }: RegistryClient, image: string, tag: string): Promise<ImageInspection> {
    requested(type)
    const digest = await api.digest(image, tag)
    if (digest === undefined) return { exists: false, exposedPorts: [] }
    // The ports only save typing: without them the image can still be run.
    return { exists: true, exposedPorts: await api.exposedPorts(image, digest).catch(() => []) }
  }

  return {
    async read(client: RegistryClient, image: string, tag: string): Promise<ImageInspection> {
      const key = toKey(client, image, tag)
      const inspection = await inspections.load(key, () => inSlot(client.id, () => inspect(client, image, tag)))
      // A user who reads that it is missing pushes it next.
      if (!inspection.exists) inspections.delete(key)
      return inspection
    },
    /** Forgets images that were pushed. */
    drop(client: RegistryClient, images: readonly string[]) {
      const starts = images.map((image) => toKey(client, image, ''))
      inspections.deleteMatching((key) => starts.some((start) => key.startsWith(start)))
    },
  }
}

/** No name of an image has a colon. */
const toKey = ({ id, version }: RegistryClient, image: string, tag: string) => `${id}/${version}/${image}:${tag}`

/** An estimate in bytes, with the key, which has the names of image and tag. */
const getSize = ({ exposedPorts }: ImageInspection) => 800 + 40 * exposedPorts.length
