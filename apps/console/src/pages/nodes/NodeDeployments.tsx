import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ExternalLink, Rocket, StickyNote } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../routing/links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'
import { useDeploymentColumns, useStatusChoice } from '../deployments/deployment-columns.tsx'

/** What was deployed to this node, newest first. */
export function NodeDeployments({ teamSlug, nodeId }: { teamSlug: string; nodeId: string }) {
  const { t } = useTranslation(['nodes', 'common'])
  const navigate = useNavigate()
  const query = useQuery({
    ...apiQuery('nodes.deployments', { params: { teamSlug, nodeId } }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data),
  })
  const { status, project, version, prefix, outcome, updated } = useDeploymentColumns(teamSlug)
  const statusChoice = useStatusChoice()
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows />}
      empty={<EmptyState icon={Rocket} title={t('deployments.emptyTitle')} text={t('deployments.emptyText')} />}
    >
      {(all) => (
        <FilteredList
          rows={all}
          search={t('deployments.filter')}
          searchText={(row) => [row.project.name, row.version.name, row.prefix]}
          choice={statusChoice}
        >
          {(rows) => (
            <DataTable
              label={t('section.deployments')}
              rows={rows}
              columns={[status, project, version, prefix, outcome, updated]}
              rowKey={(row) => row.id}
              initialSort={{ column: 'updated', direction: 'desc' }}
              actions={(row) => [
                {
                  id: 'open',
                  label: t('deployments.open'),
                  icon: ExternalLink,
                  inline: true,
                  run: () => void navigate(links.deployment(teamSlug, row.id)),
                },
                {
                  id: 'note',
                  label: t('deployments.note'),
                  icon: StickyNote,
                  inline: true,
                  disabledReason: !row.note && t('deployments.noNote'),
                  run: () =>
                    void confirm({
                      title: t('deployments.note'),
                      text: row.note ?? '',
                      action: t('common:close'),
                      info: true,
                    }),
                },
              ]}
            />
          )}
        </FilteredList>
      )}
    </QueryView>
  )
}
