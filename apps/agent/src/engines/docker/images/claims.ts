import { shortImageName, toRepository } from '../../images/image-reference.ts'

/**
 * Separates removals and releases of one node: an image that a release has resolved must not be removed before its container uses it. A
 * claim is by repository, since the image of a tag is known late.
 */
export interface ImageClaims {
  /**
   * From the call until the returned function is called, no image with such a name is removed. Resolves when every removal that started
   * before has ended.
   *
   * @param names repositories, and ids of images that are needed by their id
   */
  claim(names: Iterable<string>): Promise<() => void>
  /** Runs the removal, unless a release claims the image: then it returns the claimed name. */
  remove(
    image: { id: string; references: readonly string[] },
    removal: () => Promise<void>,
  ): Promise<string | undefined>
}

export function createImageClaims(): ImageClaims {
  const claimed = new Map<symbol, ReadonlySet<string>>()
  const removals = new Set<Promise<unknown>>()
  return {
    async claim(names) {
      const key = Symbol('claim')
      claimed.set(key, new Set([...names].map(shortImageName)))
      await Promise.allSettled(removals)
      return () => claimed.delete(key)
    },
    async remove({ id, references }, removal) {
      // There is no await between this check and the removal's entry, so a later claim waits for the removal.
      for (const name of [id, ...references.map((reference) => shortImageName(toRepository(reference)))])
        for (const names of claimed.values()) if (names.has(name)) return name
      const work = removal().finally(() => removals.delete(work))
      removals.add(work)
      await work
      return undefined
    },
  }
}
