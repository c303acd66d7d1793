import type { ImageTag } from './registry-browser.ts'

/** Tags that are requested together: about as many as fit into a list. */
const blockSize = 10

/** The names of tags that lack details, in blocks that stay the same while the list scrolls. */
export function blocksInView(
  tags: readonly ImageTag[],
  range: { startIndex: number; endIndex: number } | null,
): string[][] {
  const blocks: string[][] = []
  if (!range) return blocks
  for (let start = range.startIndex - (range.startIndex % blockSize); start <= range.endIndex; start += blockSize) {
    const names = tags.slice(start, start + blockSize).flatMap((tag) => (isComplete(tag) ? [] : [tag.name]))
    if (names.length > 0) blocks.push(names)
  }
  return blocks
}

const isComplete = ({ digest, platforms }: ImageTag) => Boolean(digest && platforms)

/** What the list has wins: tags are sorted by it. */
export const mergeDetails = (tag: ImageTag, details: ImageTag | undefined): ImageTag => ({
  name: tag.name,
  created: tag.created ?? details?.created,
  digest: tag.digest ?? details?.digest,
  size: tag.size ?? details?.size,
  platforms: tag.platforms ?? details?.platforms,
})
