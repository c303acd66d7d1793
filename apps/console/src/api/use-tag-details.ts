import type { ApiError } from '@crux/client'
import { useQueries } from '@tanstack/react-query'
import { type ImageTag, tagDetailsQuery } from './registry-browser.ts'

/** Tags that are requested together: about as many as fit into a list. */
const blockSize = 10

/**
 * What the registry tells about the tags in view. The list of tags lacks it where it costs requests for each tag, so that nothing is requested of
 * tags that nobody looks at, nor while the list scrolls.
 */
export function useTagDetails(
  { teamSlug, registryId, image }: { teamSlug: string; registryId: string; image: string },
  tags: readonly ImageTag[],
  view: { range: { startIndex: number; endIndex: number } | null; isScrolling: boolean },
): { withDetails: (tag: ImageTag) => ImageTag; error: ApiError | null } {
  const queries = useQueries({
    queries: blocksInView(tags, view.range).map((names) => ({
      ...tagDetailsQuery(teamSlug, registryId, image, names),
      enabled: !view.isScrolling,
    })),
  })
  const known = new Map(queries.flatMap(({ data }) => data ?? []).map((tag) => [tag.name, tag]))
  return {
    withDetails: (tag) => mergeDetails(tag, known.get(tag.name)),
    error: queries.find(({ error }) => error !== null)?.error ?? null,
  }
}

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
