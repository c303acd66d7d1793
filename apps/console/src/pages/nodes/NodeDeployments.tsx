import type { Deployment } from '@crux/contract'
import { deploymentStatuses } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { ExternalLink, Rocket, StickyNote } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { VersionName } from '../../components/VersionName.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { DeploymentOutcome, refetchIntervalMs } from '../deployments/DeploymentOutcome.tsx'

/** What was deployed to this node, newest first. */
export function NodeDeployments({ teamSlug, nodeId }: { teamSlug: string; nodeId: string }) {
  const { t } = useTranslation(['nodes', 'common'])
  const navigate = useNavigate()
  const query = useQuery({
    ...apiQuery('nodes.deployments', { params: { teamSlug, nodeId } }),
    refetchInterval: ({ state }) => refetchIntervalMs(state.data),
  })
  const columns: Column<Deployment>[] = [
    {
      id: 'status',
      header: t('list.status'),
      cell: (row) => <State kind="deployment" value={row.status} />,
      sort: (row) => deploymentStatuses.indexOf(row.status),
      narrow: 'lead',
    },
    {
      id: 'project',
      header: t('deployments.project'),
      cell: (row) => (
        <TextLink {...links.deployment(teamSlug, row.id)} strong>
          {row.project.name}
        </TextLink>
      ),
      sort: (row) => row.project.name,
      narrow: 'title',
    },
    {
      id: 'version',
      header: t('deployments.version'),
      cell: (row) => <VersionName project={row.project} name={row.version.name} />,
      sort: (row) => row.version.name,
      narrow: 'title',
    },
    {
      id: 'prefix',
      header: t('deployments.prefix'),
      cell: (row) => <span className="mono text-ink-2">{row.prefix}</span>,
      sort: (row) => row.prefix,
    },
    {
      id: 'outcome',
      header: t('deployments.outcome'),
      cell: (row) => <DeploymentOutcome teamSlug={teamSlug} deployment={row} />,
      grow: true,
    },
    {
      id: 'updated',
      header: t('deployments.updated'),
      cell: (row) => <RelativeTime at={row.audit.updatedAt} className="text-ink-2 tabular-nums" />,
      sort: (row) => row.audit.updatedAt,
      align: 'right',
      narrow: 'end',
    },
  ]
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows />}
      empty={{
        when: (rows) => rows.length === 0,
        show: <EmptyState icon={Rocket} title={t('deployments.emptyTitle')} text={t('deployments.emptyText')} />,
      }}
    >
      {(all) => (
        <FilteredList
          rows={all}
          search={t('deployments.filter')}
          searchText={(row) => [row.project.name, row.version.name, row.prefix]}
          choice={{
            label: t('list.status'),
            of: (row) => row.status,
            values: deploymentStatuses,
            optionLabel: (value) => t(`common:state.deployment.${value}`),
          }}
        >
          {(rows) => (
            <DataTable
              label={t('section.deployments')}
              rows={rows}
              columns={columns}
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
