import type { ReactNode } from 'react'
import { cx } from './class-names.ts'

type Props = {
  title?: ReactNode
  trailing?: ReactNode
  actions?: ReactNode
  children: ReactNode
  className?: string
  label?: string
}

/** A box with a border and a surface, and an optional header line. */
export function Box({ title, trailing, actions, children, className, label }: Props) {
  return (
    <section
      aria-label={label}
      className={cx('min-w-0 overflow-clip rounded-box border border-line bg-surface', className)}
    >
      {(title || actions) && (
        <header className="flex min-h-10 flex-wrap items-center gap-2 border-b border-line px-3 py-1 max-md:has-[input]:py-2">
          <h2 className="font-strong">{title}</h2>
          {trailing && <span className="text-ink-2">{trailing}</span>}
          <div className="ml-auto flex items-center gap-2 max-md:has-[input]:w-full">{actions}</div>
        </header>
      )}
      {children}
    </section>
  )
}

/** Pairs of a name and a value, as the head of a details page shows them. A long one takes a line of its own on a phone. */
export function DescriptionList({ items }: { items: { label: ReactNode; value: ReactNode; isLong?: boolean }[] }) {
  return (
    <dl className="flex flex-wrap gap-x-9 gap-y-3 px-3.5 py-3 max-md:grid max-md:grid-cols-2 max-md:gap-x-4">
      {items.map((item, index) => (
        <div key={index} className={cx('min-w-0', item.isLong && 'max-md:col-span-2')}>
          <dt className="text-small text-ink-2">{item.label}</dt>
          <dd className="mt-0.5 font-strong wrap-anywhere">{item.value}</dd>
        </div>
      ))}
    </dl>
  )
}
