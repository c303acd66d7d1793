import { repositoryOf, shortImageName } from '../plan/image-reference.ts'

/**
 * Keeps removals and releases of one node apart: what a release has looked up must not go before its container has it. A claim is by
 * repository, since which image a tag means is known late.
 */
export interface ImageClaims {
  /**
   * From the call on nothing that has such a name is removed, until the answer is called. Resolves when no removal is under way that
   * began before.
   *
   * @param names repositories, and ids of images that are wanted by them
   */
  claim(names: Iterable<string>): Promise<() => void>
  /** Does the removal, unless a release claims the image: then it answers the name that is claimed. */
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
      // Nothing is awaited between this look and the removal's entry: who claims now waits for it.
      for (const name of [id, ...references.map((reference) => shortImageName(repositoryOf(reference)))])
        for (const names of claimed.values()) if (names.has(name)) return name
      const work = removal().finally(() => removals.delete(work))
      removals.add(work)
      await work
      return undefined
    },
  }
}
