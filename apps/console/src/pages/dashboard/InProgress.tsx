import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { links } from '../../routing/links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import { useDeploymentColumns } from '../deployments/deployment-columns.tsx'
import { latestQuery } from './dashboard-queries.ts'

/** The releases in progress, with how far they are; nothing without any. */
export function InProgress({ teamSlug, count }: { teamSlug: string; count: number }) {
  const { t } = useTranslation('dashboard')
  const query = useQuery({
    ...latestQuery(teamSlug, 'in-progress'),
    enabled: count > 0,
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.items),
  })
  const columns = useDeploymentColumns(teamSlug)
  const rows = count > 0 ? (query.data?.items ?? []) : []
  if (rows.length === 0) return null
  return (
    <Box
      title={t('running.title')}
      actions={
        count > rows.length && (
          <ButtonLink {...links.deployments(teamSlug, { status: 'in-progress' })} size="sm">
            {t('running.all', { count })}
          </ButtonLink>
        )
      }
    >
      <DataTable
        flush
        label={t('running.title')}
        rows={rows}
        columns={Object.values(columns)}
        rowKey={(row) => row.id}
        tint={() => 'progress'}
        initialSort={null}
      />
    </Box>
  )
}
