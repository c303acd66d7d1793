import { type ReactNode, useEffect } from 'react'
import { Brand } from '../../frame/Brand.tsx'

type Props = { title: string; subtitle?: ReactNode; children?: ReactNode; foot?: ReactNode }

/** One column: brand, heading, form, and a line for the other way. */
export function AuthCard({ title, subtitle, children, foot }: Props) {
  useEffect(() => {
    document.title = `${title} - Crux`
  }, [title])
  return (
    <div className="grid w-[360px] max-w-full gap-3.5">
      <Brand large />
      <div className="mt-1">
        <h1 className="text-title font-semibold tracking-[-0.012em]">{title}</h1>
        {subtitle && <p className="text-ink-2">{subtitle}</p>}
      </div>
      {children}
      {foot && <p className="text-small text-ink-2">{foot}</p>}
    </div>
  )
}
