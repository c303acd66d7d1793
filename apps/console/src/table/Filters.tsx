import type { ReactNode } from 'react'

/** The line above a list: search, chips, and at the right end what changes the view. */
export function Filters({ children, trailing }: { children: ReactNode; trailing?: ReactNode }) {
  return (
    <search className="mb-3 flex flex-wrap items-center gap-2">
      {children}
      {trailing && <div className="ml-auto flex items-center gap-2">{trailing}</div>}
    </search>
  )
}
