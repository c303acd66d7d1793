import { ApiError } from '@crux/client'
import { Hourglass } from 'lucide-react'
import { useEffect, useEffectEvent } from 'react'
import { useTranslation } from 'react-i18next'
import { describeError } from '../errors/describe-error.ts'
import { Button } from './Button.tsx'
import { EmptyState } from './EmptyState.tsx'
import { ErrorState } from './ErrorState.tsx'
import { useNow } from './RelativeTime.tsx'
import { relativeTime } from './relative-time.ts'

/** Why a list of a registry is missing. A limit of requests is no failure: the text has the time that is left. */
export function RegistryProblem({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useTranslation('registries')
  if (error instanceof ApiError && error.error === 'registryRateLimit') return <RateLimit error={error} retry={retry} />
  return <ErrorState error={error} title={t('images.failed')} retry={retry} />
}

/** Counts down, and requests the list again when the registry accepts requests. */
function RateLimit({ error, retry }: { error: ApiError; retry: () => void }) {
  const { t } = useTranslation(['registries', 'common'])
  const { retryAt } = error
  const now = useNow()
  const retryNow = useEffectEvent(retry)
  useEffect(() => {
    if (retryAt === undefined) return
    const timer = setTimeout(() => retryNow(), Math.max(retryAt - Date.now(), 0))
    return () => clearTimeout(timer)
  }, [retryAt])
  const text =
    retryAt === undefined || typeof error.value !== 'string'
      ? describeError(error).text
      : t('images.limitedText', { host: error.value, time: timeLeft(retryAt - now) })
  return (
    <EmptyState
      icon={Hourglass}
      title={t('images.limited')}
      text={text}
      action={<Button onClick={retry}>{t('common:error.retry')}</Button>}
    />
  )
}

/** To the second below two minutes, where each second counts. */
function timeLeft(ms: number): string {
  const seconds = Math.max(1, Math.ceil(ms / 1_000))
  return seconds < 120 ? `${seconds} s` : relativeTime(0, seconds * 1_000)
}
