import type { UseQueryResult } from '@tanstack/react-query'
import { RotateCw, TriangleAlert } from 'lucide-react'
import { isValidElement, type ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { describeError, isStatus } from '../errors/describe-error.ts'
import { Button } from './Button.tsx'
import { ErrorState } from './ErrorState.tsx'
import { FactorNeeded } from './FactorNeeded.tsx'
import { FailedPage } from './FailedPage.tsx'
import { NotFound } from './NotFound.tsx'
import { absoluteTime } from './relative-time.ts'
import { SkeletonColumns, SkeletonPage } from './Skeletons.tsx'

type Props<T> = {
  query: UseQueryResult<T>
  /** The view's final layout without its data. */
  skeleton: ReactNode
  /** What to show instead of children for data without content: an empty list, or as `isEmpty` says. */
  empty?: ReactNode
  isEmpty?: (data: T) => boolean
  children: (data: T) => ReactNode
}

/** Every state of a view that loads: skeleton, error with "Try again", nothing there, empty, data. */
export function QueryView<T>({ query, skeleton, empty, isEmpty = isEmptyList, children }: Props<T>) {
  if (query.data !== undefined)
    return (
      <>
        {query.isError && <StaleNote query={query} />}
        {empty && isEmpty(query.data) ? empty : children(query.data)}
      </>
    )
  if (query.isPending && query.fetchStatus !== 'paused') return skeleton
  if (isStatus(query.error, 403) && query.error.property === 'secondFactor') return <FactorNeeded />
  // An id of another team and a deleted one look the same, so that ids of other teams cannot be probed.
  if (isStatus(query.error, 404) || isStatus(query.error, 403)) return <NotFound />
  const retry = () => void query.refetch()
  if (isWholePage(skeleton)) return <FailedPage error={query.error} retry={retry} busy={query.isFetching} />
  return <ErrorState error={query.error} retry={retry} />
}

const isEmptyList = (data: unknown) => Array.isArray(data) && data.length === 0

/** A skeleton with a heading is for a page whose heading comes from its data. */
const isWholePage = (skeleton: ReactNode) =>
  isValidElement<{ bare?: boolean }>(skeleton) &&
  (skeleton.type === SkeletonPage || skeleton.type === SkeletonColumns) &&
  !skeleton.props.bare

/** A refetch failed, so the page shows old data or something that was deleted. */
function StaleNote({ query }: { query: UseQueryResult<unknown> }) {
  const { t } = useTranslation()
  const gone = isStatus(query.error, 404) || isStatus(query.error, 403)
  return (
    <div
      role="status"
      className="mb-3 flex flex-wrap items-center gap-x-2 gap-y-1 rounded-md px-3 py-1.5 tinted-progress"
    >
      <TriangleAlert aria-hidden className="text-progress" />
      <strong className="font-strong">{t(gone ? 'stale.gone' : 'stale.title')}</strong>
      <span className="min-w-0 flex-1 basis-56 text-ink-2">
        {t('stale.text', { time: absoluteTime(query.dataUpdatedAt).slice(11) })}
        {!gone && ` ${describeError(query.error).text}`}
      </span>
      <Button size="sm" icon={RotateCw} busy={query.isFetching} onClick={() => void query.refetch()}>
        {t('error.retry')}
      </Button>
    </div>
  )
}
