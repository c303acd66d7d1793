import type { ApiError } from '@crux/client'
import { useQueries } from '@tanstack/react-query'
import { type ImageTag, tagDetailsQuery } from './registry-browser.ts'
import { blocksInView, mergeDetails } from './tags-in-view.ts'

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
