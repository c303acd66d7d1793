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
import { useStatusChoice } from '../deployments/deployment-columns.tsx'
import { useChosenColumns } from '../deployments/use-chosen-columns.tsx'

/** The deployments with a config bundle, newest first. */
export function BundleDeployments({ teamSlug, bundleId }: { teamSlug: string; bundleId: string }) {
  const { t } = useTranslation(['bundles', 'deployments', 'common'])
  const params = { teamSlug, configBundleId: bundleId }
  const query = useQuery({
    ...apiQuery('config-bundles.deployments', { params }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data),
  })
  const { columns } = useChosenColumns(teamSlug)
  const statusChoice = useStatusChoice()
  return (
    <section aria-labelledby="bundle-deployments">
      <h2 id="bundle-deployments" className="mb-2 font-strong">
        {t('deployments.title')}
      </h2>
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={3} />}
        empty={<EmptyState icon={Rocket} title={t('deployments.empty')} text={t('deployments.emptyText')} />}
      >
        {(all) => (
          <FilteredList
            rows={all}
            search={t('deployments:list.filter')}
            searchText={(row) => [row.project.name, row.version.name, row.node.name, row.prefix]}
            choice={statusChoice}
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
