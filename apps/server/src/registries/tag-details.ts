import type { RegistryType } from '@crux/contract'
import { createAnswerCache } from './answer-cache.ts'
import type { RegistryTag } from './api/registry-api.ts'
import type { RegistryClient } from './clients.ts'
import { createSlots } from './slots.ts'

/** For some 10,000 tags. */
const bytesMax = 8 * 1_024 * 1_024
/** Tags of one registry that this process reads at a time. */
const atOnce = 5

/**
 * What lists of tags lack: it is in the manifest and the configuration of each tag.
 *
 * @param requested counts the tags that are read
 */
export function createTagDetails(requested: (type: RegistryType) => void) {
  const details = createAnswerCache(bytesMax, getSize)
  const inSlot = createSlots(atOnce)

  return {
    /**
     * All of these tags in their order; of one that cannot be read, only the name.
     *
     * @throws CruxError when none of them can be read
     */
    async read(client: RegistryClient, image: string, tags: readonly string[]): Promise<RegistryTag[]> {
      const settled = await Promise.allSettled(
        tags.map((tag) =>
          details.load(toKey(client, image, tag), () =>
            inSlot(client.id, () => {
              requested(client.type)
              return client.api.describe(image, tag)
            }),
          ),
        ),
      )
      const failed = settled.find((one) => one.status === 'rejected')
      if (failed && !settled.some((one) => one.status === 'fulfilled')) throw failed.reason
      return tags.map((name, index): RegistryTag => {
        const one = settled[index]
        return (one?.status === 'fulfilled' && one.value) || { name }
      })
    },
    /** Forgets the tags of images that were pushed. */
    drop(client: RegistryClient, images: readonly string[]) {
      const starts = images.map((image) => toKey(client, image, ''))
      details.deleteMatching((key) => starts.some((start) => key.startsWith(start)))
    },
  }
}

/** No name of an image has a colon. */
const toKey = ({ id, version }: RegistryClient, image: string, tag: string) => `${id}/${version}/${image}:${tag}`

/** An estimate in bytes, with the key, which has the names of image and tag. */
const getSize = (tag: RegistryTag | undefined) => 800 + 40 * (tag?.platforms?.length ?? 0)
