import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useState } from 'react'

/** Fewer rows are drawn at once: nothing moves then while one scrolls or searches in the page. */
const wholeMax = 100
/** Of a row with its border, as the table sets it. */
const rowHeight = 37

/** Of a long table only the rows near the window are in the page; the room of the others is kept. */
export function useVisibleRows<Item>(items: readonly Item[], body: RefObject<HTMLElement | null>) {
  const [scrollMargin, setScrollMargin] = useState(0)
  const isLong = items.length > wholeMax
  useLayoutEffect(() => {
    if (isLong && body.current) setScrollMargin(body.current.getBoundingClientRect().top + window.scrollY)
  }, [isLong, body])
  const virtualizer = useWindowVirtualizer({
    count: items.length,
    estimateSize: () => rowHeight,
    overscan: 15,
    scrollMargin,
    enabled: isLong,
  })
  if (!isLong) return { items, before: 0, after: 0 }
  const drawn = virtualizer.getVirtualItems()
  const [first, last] = [drawn[0], drawn.at(-1)]
  return {
    items: items.slice(first?.index ?? 0, (last?.index ?? -1) + 1),
    before: (first?.start ?? scrollMargin) - scrollMargin,
    after: last ? virtualizer.getTotalSize() - (last.end - scrollMargin) : 0,
  }
}
