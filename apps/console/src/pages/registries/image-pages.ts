type Range = { startIndex: number; endIndex: number }

/** The pages that the rows in view and the row with the focus are on. */
export function getPages(range: Range | null, pageSize: number, focused: number): number[] {
  const toPage = (index: number) => Math.floor(index / pageSize)
  const pages = new Set([toPage(focused)])
  if (range) for (let page = toPage(range.startIndex); page <= toPage(range.endIndex); page++) pages.add(page)
  return [...pages].sort((a, b) => a - b)
}

/** About as many rows as fit into the list. */
const rowsPerKey = 14

/** The row that a key moves the focus to; undefined for a key that moves nothing. */
export function moveInList(key: string, index: number, count: number): number | undefined {
  const target = getTarget(key, index, count)
  return target === undefined ? undefined : Math.min(Math.max(target, 0), count - 1)
}

function getTarget(key: string, index: number, count: number): number | undefined {
  switch (key) {
    case 'ArrowDown':
      return index + 1
    case 'ArrowUp':
      return index - 1
    case 'PageDown':
      return index + rowsPerKey
    case 'PageUp':
      return index - rowsPerKey
    case 'Home':
      return 0
    case 'End':
      return count - 1
    default:
      return undefined
  }
}
