import { useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import type { LogBuffer } from './log-buffer.ts'

export const rowHeight = 20
const overscan = 12

export type LogRows = {
  rows: { index: number; top: number }[]
  height: number
  /** For wrapped lines, whose height is only known once they are drawn. */
  measure: ((element: HTMLElement | null) => void) | undefined
  following: boolean
  follow: () => void
  scrollTo: (index: number) => void
}

/**
 * Which lines are in view, and whether the view follows the newest. Lines of one height need no bookkeeping, so a full buffer with
 * thousands of new lines per second costs only what is seen; wrapped lines are measured.
 */
export function useLogRows(buffer: LogBuffer, scroller: RefObject<HTMLElement | null>, wrap: boolean): LogRows {
  useSyncExternalStore(buffer.subscribe, () => buffer.revision)
  const [view, setView] = useState({ top: 0, height: 400 })
  const [following, setFollowing] = useState(true)
  const lastTop = useRef(0)
  const lastFirst = useRef(buffer.first)
  const size = buffer.size

  const virtual = useVirtualizer({
    count: wrap ? size : 0,
    enabled: wrap,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => buffer.first + index,
    overscan,
  })
  const height = wrap ? virtual.getTotalSize() : size * rowHeight

  const place = useCallback(
    (top: number) => {
      const element = scroller.current
      if (!element) return
      element.scrollTop = top
      lastTop.current = element.scrollTop
    },
    [scroller],
  )

  useScrollView(scroller, (element) => {
    const top = element.scrollTop
    const below = element.scrollHeight - top - element.clientHeight
    // Only moving up stops following: lines that arrive also put the end out of view.
    if (below <= 10) setFollowing(true)
    else if (top < lastTop.current - 1) setFollowing(false)
    lastTop.current = top
    setView({ top, height: element.clientHeight })
  })

  useLayoutEffect(() => {
    const gone = buffer.first - lastFirst.current
    lastFirst.current = buffer.first
    if (following) place(height)
    // Oldest lines left the buffer: what the user reads stays where it is.
    else if (gone > 0 && !wrap) place(Math.max(0, lastTop.current - gone * rowHeight))
  })

  const from = Math.max(0, Math.floor(view.top / rowHeight) - overscan)
  const to = Math.min(size, Math.ceil((view.top + view.height) / rowHeight) + overscan)
  return {
    rows: wrap
      ? virtual.getVirtualItems().map((item) => ({ index: item.index, top: item.start }))
      : Array.from({ length: Math.max(0, to - from) }, (_, offset) => ({
          index: from + offset,
          top: (from + offset) * rowHeight,
        })),
    height,
    measure: wrap ? virtual.measureElement : undefined,
    following,
    follow: () => {
      setFollowing(true)
      place(height)
    },
    scrollTo: (index) => {
      setFollowing(false)
      if (wrap) virtual.scrollToIndex(index, { align: 'center' })
      else place(Math.max(0, index * rowHeight - (scroller.current?.clientHeight ?? 0) / 2))
    },
  }
}

/** Calls back with the scrolled element at first, when it is scrolled, and when its size changes. */
function useScrollView(scroller: RefObject<HTMLElement | null>, onView: (element: HTMLElement) => void): void {
  const latest = useRef(onView)
  latest.current = onView
  useEffect(() => {
    const element = scroller.current
    if (!element) return
    const update = () => latest.current(element)
    const sizes = new ResizeObserver(update)
    sizes.observe(element)
    element.addEventListener('scroll', update, { passive: true })
    update()
    return () => {
      sizes.disconnect()
      element.removeEventListener('scroll', update)
    }
  }, [scroller])
}
