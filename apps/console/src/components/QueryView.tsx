import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { isStatus } from '../api/errors.ts'
import { ErrorState } from './ErrorState.tsx'
import { FactorNeeded } from './FactorNeeded.tsx'
import { NotFound } from './NotFound.tsx'

type Props<T> = {
  query: UseQueryResult<T>
  /** The view's final layout without its data. */
  skeleton: ReactNode
  /** What to show instead of children for data without content. */
  empty?: { when: (data: T) => boolean; show: ReactNode }
  children: (data: T) => ReactNode
}

/** Every state of a view that loads: skeleton, error with "Try again", nothing there, empty, data. */
export function QueryView<T>({ query, skeleton, empty, children }: Props<T>) {
  if (query.data !== undefined) return empty?.when(query.data) ? empty.show : children(query.data)
  if (query.isPending && query.fetchStatus !== 'paused') return skeleton
  if (isStatus(query.error, 403) && query.error.property === 'secondFactor') return <FactorNeeded />
  // A foreign id and a removed one look the same, on purpose.
  if (isStatus(query.error, 404) || isStatus(query.error, 403)) return <NotFound />
  return <ErrorState error={query.error} retry={() => void query.refetch()} />
}
