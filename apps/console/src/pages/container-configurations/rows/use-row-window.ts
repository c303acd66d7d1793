import { type RefObject, useLayoutEffect, useState } from 'react'
import { onScroll } from '../form/on-scroll.ts'

/** Shorter lists render all rows, so that the browser's search finds them and nothing moves. */
const windowedFrom = 80
/** Rows drawn above and below of what can be seen. */
const spareRows = 12

type Window = { first: number; last: number; height: number }

/**
 * Which rows of a long table inside of the page are drawn. Rows are about equally high: how high is measured on those that are drawn,
 * and the others are two empty stretches of that height.
 */
export function useRowWindow(body: RefObject<HTMLElement | null>, count: number) {
  const [view, setView] = useState<Window>({ first: 0, last: 40, height: 43 })
  const on = count > windowedFrom
  useLayoutEffect(() => {
    if (on) return onScroll(() => setView((before) => getWindow(body.current, before, count)))
  }, [on, count, body])
  if (!on) return { first: 0, last: count, before: 0, after: 0, show: () => {} }
  const last = Math.min(view.last, count)
  const first = Math.min(view.first, last)
  return {
    first,
    last,
    before: first * view.height,
    after: (count - last) * view.height,
    /** Scrolls until a row is drawn. */
    show(index: number) {
      const top = (body.current?.getBoundingClientRect().top ?? 0) + scrollY
      scrollTo({ top: top + index * view.height - innerHeight / 2 })
    },
  }
}

function getWindow(body: HTMLElement | null, before: Window, count: number): Window {
  if (!body) return before
  const drawn = [...body.querySelectorAll<HTMLElement>('tr[data-row], tr[data-index]')]
  const box = (row: HTMLElement | undefined) => row?.getBoundingClientRect()
  const [start, end] = [box(drawn[0]), box(drawn.at(-1))]
  const height = start && end && drawn.length > 4 ? (end.bottom - start.top) / drawn.length : before.height
  const top = -body.getBoundingClientRect().top / height
  const first = Math.max(0, Math.min(Math.floor(top) - spareRows, count - 1))
  const last = Math.max(first + 1, Math.ceil(top + innerHeight / height) + spareRows)
  const same = first === before.first && last === before.last && Math.abs(height - before.height) < 0.5
  return same ? before : { first, last, height: Math.abs(height - before.height) < 0.5 ? before.height : height }
}
