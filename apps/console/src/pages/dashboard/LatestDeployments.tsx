import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../routing/links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import { useDeploymentColumns } from '../deployments/deployment-columns.tsx'
import { latestQuery } from './dashboard-queries.ts'

/** The latest deployments of the team. */
export function LatestDeployments({ teamSlug }: { teamSlug: string }) {
  const { t } = useTranslation('dashboard')
  const query = useQuery({
    ...latestQuery(teamSlug),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.items),
  })
  const columns = useDeploymentColumns(teamSlug)
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={5} />}>
      {({ items }) => (
        <Box
          title={t('recent.title')}
          actions={
            <ButtonLink {...links.deployments(teamSlug)} size="sm">
              {t('recent.all')}
            </ButtonLink>
          }
        >
          {items.length === 0 ? (
            <p className="px-3.5 py-4 text-ink-2">{t('recent.empty')}</p>
          ) : (
            <DataTable
              flush
              label={t('recent.title')}
              rows={items}
              columns={Object.values(columns)}
              rowKey={(row) => row.id}
              initialSort={null}
            />
          )}
        </Box>
      )}
    </QueryView>
  )
}
