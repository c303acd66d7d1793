import { ApiError } from '@crux/client'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ErrorState } from '../../components/ErrorState.tsx'

/** A placeholder for the form while its flow is loading, in its final height, or if that failed or is not offered here. */
export function FlowGate({
  opened,
  fields,
  off,
  children,
}: {
  opened: UseQueryResult<unknown>
  fields: number
  /** The text if this installation does not offer it. */
  off?: string
  children: ReactNode
}) {
  const { t } = useTranslation('auth')
  if (opened.data !== undefined) return children
  if (opened.error instanceof ApiError && opened.error.error === 'self_service_flow_disabled')
    return (
      <p className="rounded-box border border-line bg-surface px-3.5 py-3 text-ink-2">
        {off ?? opened.error.description}
      </p>
    )
  if (opened.isError) return <ErrorState error={opened.error} title={t('failed')} retry={() => void opened.refetch()} />
  return (
    <div aria-busy="true" className="grid gap-3.5">
      <span role="status" className="sr-only">
        {t('loading')}
      </span>
      {Array.from({ length: fields }, (_, field) => (
        <span key={field} className="grid gap-[5px]">
          <span className="skeleton my-1 h-3 w-20" />
          <span className="skeleton h-9" />
        </span>
      ))}
      <span className="skeleton h-9" />
    </div>
  )
}
