import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { ErrorState } from '../../components/ErrorState.tsx'

/** The form's place while its flow is being opened, in its final height, or when that failed. */
export function FlowGate({
  opened,
  fields,
  children,
}: {
  opened: UseQueryResult<unknown>
  fields: number
  children: ReactNode
}) {
  const { t } = useTranslation('auth')
  if (opened.data !== undefined) return children
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
