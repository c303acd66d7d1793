import type { ReactNode } from 'react'

export const Kbd = ({ children }: { children: ReactNode }) => (
  <kbd className="rounded-sm border border-line bg-sunken px-1.5 font-sans text-small font-medium text-ink-3">
    {children}
  </kbd>
)
