import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { links } from '../../routing/links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import { useDeploymentColumns } from '../deployments/deployment-columns.tsx'
import { latestQuery } from './deployment-queries.ts'

type Props = { teamSlug: string; dashboard: ResponseOf<'dashboard.get'> }

/** What is in progress and what failed, before everything else; nothing where there is none. */
export function UrgentDeployments({ teamSlug, dashboard }: Props) {
  const { t } = useTranslation('dashboard')
  const failed = dashboard.failedDeployments
  const inProgress = dashboard.more.inProgressDeployments
  const running = useQuery({
    ...latestQuery(teamSlug, 'in-progress'),
    enabled: inProgress > 0,
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.items),
  })
  const broken = useQuery({
    ...latestQuery(teamSlug, 'failed'),
    enabled: failed > 0,
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.items),
  })
  const columns = useDeploymentColumns(teamSlug)
  const rows = [
    ...(inProgress > 0 ? (running.data?.items ?? []) : []),
    ...(failed > 0 ? (broken.data?.items ?? []) : []),
  ]
  if (rows.length === 0) return null
  return (
    <Box
      title={t('urgent.title')}
      actions={
        failed > rows.length && (
          <ButtonLink {...links.deployments(teamSlug, { status: 'failed' })} size="sm">
            {t('urgent.allFailed', { count: failed })}
          </ButtonLink>
        )
      }
    >
      <DataTable
        flush
        label={t('urgent.title')}
        rows={rows}
        columns={Object.values(columns)}
        rowKey={(row) => row.id}
        tint={({ status }) => (status === 'failed' ? 'failed' : 'progress')}
        initialSort={null}
      />
    </Box>
  )
}
