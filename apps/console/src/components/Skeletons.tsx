import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { useSidebarCollapsed } from '../stores/sidebar.ts'
import { cx } from './class-names.ts'

const widths = ['w-40', 'w-28', 'w-52', 'w-32', 'w-44', 'w-24']

/** Rows of a table or list that is still loading, in their final height; `filters` keeps the room of the line above it. */
export function SkeletonRows({ rows = 6, filters }: { rows?: number; filters?: boolean }) {
  const { t } = useTranslation()
  const list = (
    <div aria-busy="true" className="min-w-0 overflow-hidden rounded-box border border-line bg-surface">
      <span role="status" className="sr-only">
        {t('loading')}
      </span>
      <div className="h-8 border-b border-line" />
      {Array.from({ length: rows }, (_, row) => (
        <div
          key={widths[row % widths.length] + String(row)}
          className="flex h-9 items-center gap-8 border-b border-line px-3 last:border-0"
        >
          <span className="skeleton h-3 w-20" />
          <span className={cx('skeleton h-3', widths[row % widths.length])} />
          <span className="skeleton h-3 w-24 max-md:hidden" />
          <span className="skeleton ml-auto h-3 w-12" />
        </div>
      ))}
    </div>
  )
  return filters ? <SkeletonFilters>{list}</SkeletonFilters> : list
}

function SkeletonFilters({ children }: { children: ReactNode }) {
  return (
    <>
      <div className="mb-3 flex gap-2">
        <span className="skeleton block h-[30px] w-80 max-w-full" />
        <span className="skeleton block h-[30px] w-40 max-md:hidden" />
      </div>
      {children}
    </>
  )
}

/** A details page that is still loading: heading, a line, a box. */
export function SkeletonPage() {
  return (
    <div aria-busy="true">
      <span className="skeleton block h-6 w-56" />
      <span className="skeleton mt-2 mb-5 block h-3.5 w-80 max-w-full" />
      <SkeletonRows rows={5} />
    </div>
  )
}

/** A page of two columns that is still loading: heading, facts, list and log. `bare` where the heading is there already. */
export function SkeletonColumns({ bare }: { bare?: boolean }) {
  const { t } = useTranslation()
  return (
    <div aria-busy="true">
      <span role="status" className="sr-only">
        {t('loading')}
      </span>
      {!bare && (
        <>
          <span className="skeleton block h-6 w-56" />
          <span className="skeleton mt-2 mb-5 block h-3.5 w-80 max-w-full" />
        </>
      )}
      <div className="mb-4 flex gap-9 rounded-box border border-line bg-surface px-3.5 py-4">
        {['w-20', 'w-28', 'w-16'].map((width) => (
          <span key={width} className={cx('skeleton block h-7', width)} />
        ))}
      </div>
      <div className="grid gap-4 min-[1100px]:grid-cols-[minmax(0,1.25fr)_minmax(0,1fr)]">
        {['list', 'log'].map((column) => (
          <div key={column} className="h-[26rem] rounded-box border border-line bg-surface p-3">
            <span className="skeleton block h-4 w-40" />
            <span className="skeleton mt-3 block h-3 w-64 max-w-full" />
          </div>
        ))}
      </div>
    </div>
  )
}

/** A placeholder while the frame and the current user are loading, so that the layout does not shift. */
export function SkeletonFrame() {
  const collapsed = useSidebarCollapsed()
  return (
    <div className="flex min-h-dvh">
      <div className={cx('shrink-0 border-r border-line max-md:hidden', collapsed ? 'w-[49px]' : 'w-[212px]')} />
      <div className="min-w-0 flex-1">
        <div className="h-12 border-b border-line" />
        <div className="max-w-[1440px] px-5 pt-5 max-md:px-3 max-md:pt-3.5">
          <SkeletonPage />
        </div>
      </div>
    </div>
  )
}

/** Cards that are still loading. */
export function SkeletonCards({ cards = 6, filters }: { cards?: number; filters?: boolean }) {
  const list = (
    <div aria-busy="true" className="grid gap-3 [grid-template-columns:repeat(auto-fill,minmax(260px,1fr))]">
      {Array.from({ length: cards }, (_, card) => (
        <div
          key={widths[card % widths.length] + String(card)}
          className="h-32 rounded-box border border-line bg-surface p-3.5"
        >
          <span className="skeleton block h-4 w-32" />
          <span className="skeleton mt-3 block h-3 w-48 max-w-full" />
          <span className="skeleton mt-2 block h-3 w-24" />
        </div>
      ))}
    </div>
  )
  return filters ? <SkeletonFilters>{list}</SkeletonFilters> : list
}
