import { ChevronFirst, ChevronLast, ChevronLeft, ChevronRight, type LucideIcon } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../components/Button.tsx'
import { pagesAround } from './pages.ts'

export const pageSizes = [5, 10, 20, 50, 100, 250] as const

type Props = { skip: number; take: number; total: number; onChange: (page: { skip: number; take: number }) => void }

/** "1-10 of 24", page size, first, previous, two pages around, next, last. */
export function Pagination({ skip, take, total, onChange }: Props) {
  const { t } = useTranslation()
  const page = Math.floor(skip / take)
  const last = Math.max(0, Math.ceil(total / take) - 1)
  const go = (to: number) => onChange({ skip: to * take, take })
  const atStart = page === 0 && t('page.atStart')
  const atEnd = page >= last && t('page.atEnd')
  const step = (name: 'first' | 'previous' | 'next' | 'last', icon: LucideIcon, to: number, denied: string | false) => (
    <IconButton size="sm" icon={icon} label={t(`page.${name}`)} disabledReason={denied} onClick={() => go(to)} />
  )
  return (
    <nav
      aria-label={t('page.label')}
      className="flex flex-wrap items-center gap-x-3 gap-y-2 border-t border-line px-3 py-2 text-small text-ink-2"
    >
      <span className="tabular-nums">
        {t('page.range', { from: total === 0 ? 0 : skip + 1, to: Math.min(skip + take, total), total })}
      </span>
      <select
        aria-label={t('page.size')}
        value={take}
        onChange={(event) => onChange({ skip: 0, take: Number(event.target.value) })}
        className="h-[26px] rounded-md border border-line-strong bg-surface px-1"
      >
        {pageSizes.map((size) => (
          <option key={size}>{size}</option>
        ))}
      </select>
      <div className="ml-auto flex items-center gap-1">
        {step('first', ChevronFirst, 0, atStart)}
        {step('previous', ChevronLeft, page - 1, atStart)}
        {pagesAround(page, last).map((number) => (
          <Button
            key={number}
            size="sm"
            variant={number === page ? 'plain' : 'bare'}
            aria-current={number === page ? 'page' : undefined}
            onClick={() => go(number)}
          >
            {number + 1}
          </Button>
        ))}
        {step('next', ChevronRight, page + 1, atEnd)}
        {step('last', ChevronLast, last, atEnd)}
      </div>
    </nav>
  )
}
