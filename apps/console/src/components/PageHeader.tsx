import { type ReactNode, useEffect } from 'react'
import { type Crumb, useSetCrumbs } from '../stores/crumbs.ts'

type Props = {
  title: string
  /** The breadcrumb without the team and the page itself. */
  crumbs?: readonly Crumb[]
  /** Shown beside the title: a state, a tag. */
  mark?: ReactNode
  subtitle?: ReactNode
  /** At most one main button; the rest plain or in a menu. */
  actions?: ReactNode
  /** The page's own step in the breadcrumb, where the title repeats the step before. */
  crumb?: string
  /** The name in breadcrumb and tab, if the title alone is ambiguous. */
  fullTitle?: string
}

/** The heading of every page; it also feeds the breadcrumb and names the browser's tab. */
export function PageHeader({ title, crumbs = [], mark, subtitle, actions, crumb, fullTitle = title }: Props) {
  useSetCrumbs([...crumbs, { label: crumb ?? fullTitle }])
  useEffect(() => {
    document.title = `${fullTitle} - Crux`
  }, [fullTitle])
  return (
    <div className="mb-4 flex flex-wrap items-start gap-3">
      <div className="min-w-0 flex-1 basis-60">
        <div className="flex flex-wrap items-center gap-x-2.5">
          <h1 className="text-title font-semibold tracking-[-0.012em]">{title}</h1>
          {mark}
        </div>
        {subtitle && <p className="mt-0.5 text-ink-2">{subtitle}</p>}
      </div>
      {actions && (
        // On a phone the tools take a line of their own, except a single menu.
        <div className="flex w-full flex-wrap items-center gap-2 max-md:has-[>[aria-haspopup]:only-child]:w-auto max-md:[&>:not([aria-haspopup],[role=radiogroup])]:flex-1 max-md:[&>[role=radiogroup]]:shrink-0 wide:ml-auto wide:w-auto">
          {actions}
        </div>
      )}
    </div>
  )
}
