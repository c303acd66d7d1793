import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useState } from 'react'

/** Fewer rows are all there: the browser's own search finds them, and nothing moves. */
const windowedFrom = 80

/** Which rows of a long table inside of the page are drawn, and how high the others are. */
export function useRowWindow(body: RefObject<HTMLElement | null>, count: number) {
  const [margin, setMargin] = useState(0)
  const on = count > windowedFrom
  useLayoutEffect(() => {
    const top = on && body.current ? Math.round(body.current.getBoundingClientRect().top + scrollY) : 0
    if (top !== margin) setMargin(top)
  })
  const virtual = useWindowVirtualizer({
    count,
    estimateSize: () => 43,
    overscan: 10,
    scrollMargin: margin,
    enabled: on,
  })
  if (!on) return { first: 0, last: count, before: 0, after: 0, measure: undefined, show: () => {} }
  const items = virtual.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = (items.at(-1)?.index ?? Math.min(count, 30) - 1) + 1
  return {
    first,
    last,
    before: items[0] ? items[0].start - margin : 0,
    after: virtual.getTotalSize() - ((items.at(-1)?.end ?? margin) - margin),
    measure: virtual.measureElement,
    show: (index: number) => virtual.scrollToIndex(index, { align: 'center' }),
  }
}
