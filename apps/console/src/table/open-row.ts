import type { MouseEvent } from 'react'

/** Elements of a row with an action of their own. */
const controls = 'a, button, input, select, textarea, label, summary, [role=checkbox], [role=menuitem]'

/**
 * A press anywhere on a row is one on its link; with a modifier or the middle button it opens a tab. Keyboards and readers use the link
 * itself. Selecting a row's text opens nothing.
 */
export function openRow(event: MouseEvent<HTMLElement>): void {
  const { target } = event
  // A menu or dialog of the row is elsewhere in the DOM, but React sends its events to the row.
  if (!(target instanceof Element) || !event.currentTarget.contains(target)) return
  if (event.defaultPrevented || target.closest(controls)) return
  const link = event.currentTarget.querySelector<HTMLAnchorElement>('a[data-row-link]')
  if (!link || !document.getSelection()?.isCollapsed) return
  if (event.button === 1 || event.ctrlKey || event.metaKey) window.open(link.href, '_blank', 'noopener')
  else if (event.button === 0 && !event.shiftKey && !event.altKey) link.click()
}
