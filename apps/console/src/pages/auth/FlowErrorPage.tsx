import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { readFlowError } from '../../api/identity.ts'
import { ButtonLink } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { isStatus } from '../../errors/describe-error.ts'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'

const route = getRouteApi('/bare/error')

/** Where the identity service sends a browser when a flow cannot go on; the id identifies the stored error. */
export function FlowErrorPage() {
  const { t } = useTranslation('auth')
  const { id } = route.useSearch()
  const query = useQuery({
    queryKey: ['flow-error', id],
    queryFn: () => readFlowError(id ?? ''),
    enabled: id !== undefined,
    retry: false,
  })
  const gone = isStatus(query.error, 404) || isStatus(query.error, 403)
  return (
    <AuthCard
      title={t('flowError.title')}
      subtitle={
        query.data
          ? query.data.reason || query.data.message
          : id === undefined
            ? t('flowError.noId')
            : gone
              ? t('flowError.gone')
              : undefined
      }
    >
      {query.isError && !gone && <ErrorState error={query.error} retry={() => void query.refetch()} />}
      <ButtonLink {...links.login()} variant="main" size="lg">
        {t('flowError.again')}
      </ButtonLink>
    </AuthCard>
  )
}
