import { deploymentStatuses } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Rocket } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import { useDeploymentColumns } from '../deployments/use-deployment-columns.tsx'

/** The deployments with a config bundle, newest first. */
export function BundleDeployments({ teamSlug, bundleId }: { teamSlug: string; bundleId: string }) {
  const { t } = useTranslation(['bundles', 'deployments', 'common'])
  const params = { teamSlug, configBundleId: bundleId }
  const query = useQuery({
    ...apiQuery('config-bundles.deployments', { params }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data),
  })
  const { columns } = useDeploymentColumns(teamSlug)
  return (
    <section aria-labelledby="bundle-deployments">
      <h2 id="bundle-deployments" className="mb-2 font-strong">
        {t('deployments.title')}
      </h2>
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={3} />}
        empty={{
          when: (deployments) => deployments.length === 0,
          show: <EmptyState icon={Rocket} title={t('deployments.empty')} text={t('deployments.emptyText')} />,
        }}
      >
        {(all) => (
          <FilteredList
            rows={all}
            search={t('deployments:list.filter')}
            searchText={(row) => [row.project.name, row.version.name, row.node.name, row.prefix]}
            choice={{
              label: t('deployments:list.status'),
              of: (row) => row.status,
              values: deploymentStatuses,
              optionLabel: (value) => t(`common:state.deployment.${value}`),
            }}
          >
            {(rows) => (
              <DataTable
                label={t('deployments.title')}
                rows={rows}
                columns={columns}
                rowKey={(row) => row.id}
                initialSort={null}
              />
            )}
          </FilteredList>
        )}
      </QueryView>
    </section>
  )
}
