import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { State } from '../../components/State.tsx'
import { AuthCard } from '../auth/AuthCard.tsx'

const parts = ['app', 'crux', 'kratos', 'database'] as const

/** The public status page: which parts are available, with their versions. */
export function StatusPage() {
  const { t } = useTranslation('status')
  const query = useQuery({ ...apiQuery('system.status'), refetchInterval: 5_000 })
  const well = query.data && parts.every((part) => query.data[part].status === 'operational')
  return (
    <AuthCard title={t('title')} subtitle={query.data && (well ? t('allWell') : t('disrupted'))} foot={t('checked')}>
      {query.isError && !query.data ? (
        <ErrorState error={query.error} retry={() => void query.refetch()} />
      ) : (
        <Box>
          <ul>
            {parts.map((part) => {
              const state = query.data?.[part]
              return (
                <li key={part} className="flex h-12 items-center gap-2 border-b border-line px-3 last:border-0">
                  <div>
                    <p className="font-strong">{t(part)}</p>
                    {/* The version of a database is that of its schema. */}
                    {state?.version && (
                      <p className="text-small text-ink-2">
                        {t(part === 'database' ? 'schema' : 'version', { version: state.version })}
                      </p>
                    )}
                  </div>
                  <span className="ml-auto">
                    {state ? (
                      <State kind="service" value={state.status} />
                    ) : (
                      <span className="skeleton block h-3 w-24" />
                    )}
                  </span>
                </li>
              )
            })}
          </ul>
        </Box>
      )}
      <ButtonLink to="/" size="lg">
        {t('home')}
      </ButtonLink>
    </AuthCard>
  )
}
