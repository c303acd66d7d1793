import { ApiError } from '@crux/client'
import { Hourglass } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { describeError } from '../../errors/describe-error.ts'

/** Why a list of a registry is missing. A limit of requests is no failure: the text has the time that is left. */
export function RegistryProblem({ error, retry }: { error: unknown; retry: () => void }) {
  const { t } = useTranslation(['registries', 'common'])
  if (error instanceof ApiError && error.error === 'registryRateLimit')
    return (
      <EmptyState
        icon={Hourglass}
        title={t('images.limited')}
        text={describeError(error).text}
        action={<Button onClick={retry}>{t('common:error.retry')}</Button>}
      />
    )
  return <ErrorState error={error} title={t('images.failed')} retry={retry} />
}
