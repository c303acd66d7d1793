import type { ImageTag } from '../../api/registry-browser.ts'
import { sortRows } from '../../table/sort-rows.ts'

export type TagSort = { by: 'name' | 'date'; direction: 'asc' | 'desc' }

/** By name as people read versions, or by date with undated tags last in both directions and names deciding ties. */
export function sortTags(tags: readonly ImageTag[], sort: TagSort): ImageTag[] {
  const byName = sortRows(tags, (tag) => tag.name, sort.direction)
  return sort.by === 'name' ? byName : sortRows(byName, (tag) => toTime(tag), sort.direction)
}

/** Tags that were made after the one in use; none while its date is unknown. */
export function newerTags(tags: readonly ImageTag[], current: string | null): ReadonlySet<string> {
  const since = toTime(tags.find((tag) => tag.name === current))
  if (since === null) return new Set()
  return new Set(tags.filter((tag) => (toTime(tag) ?? 0) > since).map((tag) => tag.name))
}

const toTime = (tag: ImageTag | undefined): number | null => (tag?.created ? Date.parse(tag.created) : null)
