import type { UseQueryResult } from '@tanstack/react-query'
import type { LucideIcon } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { EmptyState } from '../components/EmptyState.tsx'
import { PageHeader } from '../components/PageHeader.tsx'
import { QueryView } from '../components/QueryView.tsx'
import { SkeletonRows } from '../components/Skeletons.tsx'
import { Pagination } from './Pagination.tsx'
import type { PageOfList } from './use-paged-search.ts'

type Props<Row, Data> = {
  /** One page of the rows, and how many there are on all pages. */
  query: UseQueryResult<Data & { items: Row[]; total: number }>
  title: string
  /** The line below the title, once the page is here. */
  subtitle: (data: Data) => ReactNode
  actions?: ReactNode
  /** Search, chips and other controls above the rows. */
  filters: ReactNode
  page: PageOfList
  goTo: (page: PageOfList, replace?: boolean) => void
  empty: { icon: LucideIcon; title: string; text: string; action?: ReactNode }
  /** The filter that leaves nothing; undefined while nothing is filtered. */
  noMatches: { text: string } | undefined
  /** Clears the filters; undefined if there is nothing to clear. */
  onReset: (() => void) | undefined
  /** The rows, never none, and what belongs below them. */
  children: (rows: Row[], pagination: ReactNode) => ReactNode
}

/** The page of a list that the server pages and filters: head, filters, every state of it, and the pagination. */
export function PagedListPage<Row, Data>(props: Props<Row, Data>) {
  const { query, title, subtitle, actions, filters, page, goTo, empty, noMatches, onReset, children } = props
  const { t } = useTranslation()
  useLastPage(page, query.isPlaceholderData ? undefined : query.data?.total, goTo)
  const reset = onReset && <Button onClick={onReset}>{t('filter.reset')}</Button>
  return (
    <>
      <PageHeader title={title} subtitle={query.data ? subtitle(query.data) : '\u00a0'} actions={actions} />
      {filters}
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={10} />}
        isEmpty={({ total }) => total === 0}
        empty={
          noMatches ? (
            <EmptyState icon={empty.icon} title={t('filter.nothing')} text={noMatches.text} action={reset} />
          ) : (
            <EmptyState {...empty} action={empty.action ?? reset} />
          )
        }
      >
        {({ items, total }) => children(items, <Pagination {...page} total={total} onChange={goTo} />)}
      </QueryView>
    </>
  )
}

/** A page behind the end (its last row was removed, or the address is old) leads to the last page there is. */
function useLastPage({ skip, take }: PageOfList, total: number | undefined, goTo: Props<never, never>['goTo']): void {
  const isBehind = total !== undefined && total > 0 && skip >= total
  const last = isBehind ? Math.floor((total - 1) / take) * take : skip
  useEffect(() => {
    if (isBehind) goTo({ skip: last, take }, true)
  }, [isBehind, last, take])
}
