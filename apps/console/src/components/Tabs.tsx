import { createLink } from '@tanstack/react-router'
import type { LucideIcon } from 'lucide-react'
import { type AnchorHTMLAttributes, type ReactNode, type Ref, useCallback, useEffect, useRef } from 'react'
import { cx } from './class-names.ts'

/** A row of links to the parts of one page; the part is in the address, so Back and sharing work. */
export function Tabs({ label, children }: { label: string; children: ReactNode }) {
  const row = useRef<HTMLElement>(null)
  const seen = useRef<Element>(null)
  const show = useCallback((nav: HTMLElement) => {
    const tab = nav.querySelector<HTMLElement>('[aria-current=page]')
    seen.current = tab
    if (!tab) return
    const start = tab.offsetLeft - nav.offsetLeft
    if (start < nav.scrollLeft || start + tab.offsetWidth > nav.scrollLeft + nav.clientWidth)
      nav.scrollLeft = start - (nav.clientWidth - tab.offsetWidth) / 2
  }, [])
  // Where the row is wider than the screen, the selected one must not be outside: when another is selected, and when the row narrows.
  useEffect(() => {
    const nav = row.current
    if (nav && nav.querySelector('[aria-current=page]') !== seen.current) show(nav)
  })
  useEffect(() => {
    const nav = row.current
    if (!nav) return
    const observer = new ResizeObserver(() => show(nav))
    observer.observe(nav)
    return () => observer.disconnect()
  }, [show])
  return (
    <nav ref={row} aria-label={label} className="mb-3.5 flex gap-[18px] overflow-x-auto border-b border-line">
      {children}
    </nav>
  )
}

type TabProps = AnchorHTMLAttributes<HTMLAnchorElement> & {
  icon?: LucideIcon
  count?: number
  selected: boolean
  ref?: Ref<HTMLAnchorElement>
}

function TabAnchor({ icon: Icon, count, selected, children, ...rest }: TabProps) {
  return (
    <a
      {...rest}
      aria-current={selected ? 'page' : undefined}
      className={cx(
        'flex items-center gap-1.5 border-b-2 pb-[7px] whitespace-nowrap',
        selected ? 'border-accent font-strong text-ink' : 'border-transparent text-ink-2 hover:text-ink',
      )}
    >
      {Icon && <Icon aria-hidden />}
      {children}
      {count !== undefined && <span className="font-normal text-ink-3 tabular-nums">{count}</span>}
    </a>
  )
}

export const Tab = createLink(TabAnchor)
