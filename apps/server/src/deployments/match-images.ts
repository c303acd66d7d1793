/** An image of a version, with the name that its own configuration gives to the container. */
export type MatchableImage = { id: string; registryId: string; name: string; containerName: string }

/**
 * Finds for each image of a version the image of another version whose instance it continues: the same registry and
 * name with the same container name, then the same registry and name where there is only one on both sides, then the
 * same container name.
 *
 * @returns the ids of the sources by the ids of the images; an image without a match is not in it
 */
export function matchImages(
  images: readonly MatchableImage[],
  sources: readonly MatchableImage[],
): Map<string, string> {
  const matches = new Map<string, string>()
  const used = new Set<string>()
  const leftOver = (all: readonly MatchableImage[], taken: { has(id: string): boolean }) =>
    all.filter(({ id }) => !taken.has(id))
  const match = (find: (image: MatchableImage, free: readonly MatchableImage[]) => MatchableImage | undefined) => {
    for (const image of leftOver(images, matches)) {
      const source = find(image, leftOver(sources, used))
      if (!source) continue
      matches.set(image.id, source.id)
      used.add(source.id)
    }
  }
  match((image, free) =>
    free.find((source) => isSameImage(source, image) && source.containerName === image.containerName),
  )
  match((image, free) => {
    const [source, ...others] = free.filter((one) => isSameImage(one, image))
    const isOnly = leftOver(images, matches).filter((one) => isSameImage(one, image)).length === 1
    return isOnly && others.length === 0 ? source : undefined
  })
  match((image, free) => free.find((source) => source.containerName === image.containerName))
  return matches
}

const isSameImage = (one: MatchableImage, other: MatchableImage) =>
  one.registryId === other.registryId && one.name === other.name
