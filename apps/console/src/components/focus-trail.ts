import { useEffect } from 'react'

const trailMax = 12
let trail: HTMLElement[] = []

/** Remembers the focused element, and focuses the next row when its row is removed. Mounted once in the root. */
export function useFocusTrail(): void {
  useEffect(() => {
    let position: { row: Element; list: Element; index: number } | null = null
    const note = ({ target }: FocusEvent) => {
      if (!(target instanceof HTMLElement)) return
      trail = [...trail.filter((element) => element.isConnected && element !== target).slice(1 - trailMax), target]
      const row = target.closest('li, tr')
      const list = row?.parentElement
      position = row && list ? { row, list, index: [...list.children].indexOf(row) } : null
    }
    const watcher = new MutationObserver(() => {
      if (!position || position.row.isConnected || document.activeElement !== document.body) return
      const { list, index } = position
      position = null
      const row = list.isConnected ? list.children[Math.min(index, list.children.length - 1)] : undefined
      // The actions of a row are at its end.
      const next = [...(row?.querySelectorAll<HTMLElement>('button:not([disabled]), a[href]') ?? [])].at(-1)
      ;(next ?? document.getElementById('content'))?.focus({ preventScroll: true })
    })
    document.addEventListener('focusin', note)
    watcher.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', note)
      watcher.disconnect()
    }
  }, [])
}

/**
 * A layer has closed: the focus returns to the element that opened it. If that was an entry of a menu, or was removed with its page, the last
 * thing that had the focus and is still there takes it, and without one the page. Another layer that has it by now keeps it.
 */
export function giveFocusBack(event: Event): void {
  event.preventDefault()
  if (document.activeElement && document.activeElement !== document.body) return
  const there = (element: HTMLElement) =>
    element.isConnected && !element.closest('[role=menu]') && element.getClientRects().length > 0
  const target = trail.findLast(there) ?? document.getElementById('content')
  target?.focus({ preventScroll: true })
}

/** The page has changed and taken the focused link along: Tab and a screen reader go on in the page, not at the top of the window. */
export function focusPageIfLost(): void {
  if (document.activeElement === document.body) document.getElementById('content')?.focus({ preventScroll: true })
}
