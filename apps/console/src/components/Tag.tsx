import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

/** A short exact value in mono: a tag, a type, a prefix. */
export function Tag({ children, className }: { children: ReactNode; className?: string }) {
  return (
    <span className={cx('mono rounded-sm border border-line bg-sunken px-1.5 text-ink-2', className)}>{children}</span>
  )
}

type PillProps = { children: ReactNode; tone?: 'plain' | 'accent' | 'past' | 'failed' }

/** A pill that names an origin or a mark: "default", "this deployment". */
export function Pill({ children, tone = 'plain' }: PillProps) {
  const tones = {
    plain: 'border-line bg-sunken text-ink-2',
    accent: 'border-transparent bg-accent-soft text-accent font-strong',
    past: 'border-line bg-sunken text-past',
    failed: 'border-transparent tinted-failed text-failed',
  }
  return (
    <span
      className={cx(
        'inline-flex items-center rounded-full border px-2 text-small leading-[18px] whitespace-nowrap',
        tones[tone],
      )}
    >
      {children}
    </span>
  )
}
