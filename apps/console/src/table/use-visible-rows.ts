import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useState } from 'react'

/** Fewer rows are drawn at once: nothing moves then while one scrolls or searches in the page. */
const wholeMax = 100
/** Of a row with its border, as the table sets it. */
const rowHeight = 37

/** Of a long table only the rows near the window are in the page; the room of the others is kept. */
export function useVisibleRows<Item>(
  items: readonly Item[],
  body: RefObject<HTMLElement | null>,
  /** How many rows an item is as high as. */
  getLines: (item: Item) => number,
) {
  const [scrollMargin, setScrollMargin] = useState(0)
  const isLong = items.length > wholeMax
  useLayoutEffect(() => {
    if (isLong && body.current) setScrollMargin(body.current.getBoundingClientRect().top + window.scrollY)
  }, [isLong, body])
  const virtualizer = useWindowVirtualizer({
    count: items.length,
    estimateSize: (index) => rowHeight * getLines(items[index] as Item),
    overscan: 15,
    scrollMargin,
    enabled: isLong,
  })
  const lines = isLong ? items.reduce((sum, item) => sum + getLines(item), 0) : 0
  // Sizes are kept until they are measured again: a row that is folded out is higher.
  useLayoutEffect(() => {
    if (lines > 0) virtualizer.measure()
  }, [lines, virtualizer])
  if (!isLong) return { items, before: 0, after: 0 }
  const drawn = virtualizer.getVirtualItems()
  const [first, last] = [drawn[0], drawn.at(-1)]
  return {
    items: items.slice(first?.index ?? 0, (last?.index ?? -1) + 1),
    before: (first?.start ?? scrollMargin) - scrollMargin,
    after: last ? virtualizer.getTotalSize() - (last.end - scrollMargin) : 0,
  }
}
