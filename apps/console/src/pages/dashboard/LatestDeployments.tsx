import type { Result } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { ButtonLink } from '../../components/Button.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../links.ts'
import { type Column, DataTable } from '../../table/DataTable.tsx'
import { DeploymentOutcome, lookAgainMs } from '../deployments/DeploymentOutcome.tsx'

type Deployment = Result<'deployments.list'>['items'][number]

/** What happened last in the team. */
export function LatestDeployments({ teamSlug }: { teamSlug: string }) {
  const { t } = useTranslation('dashboard')
  const query = useQuery({
    ...apiQuery('deployments.list', { params: { teamSlug }, query: { skip: 0, take: 5 } }),
    refetchInterval: ({ state }) => lookAgainMs(state.data?.items),
  })
  const columns: Column<Deployment>[] = [
    {
      id: 'status',
      header: t('recent.status'),
      narrow: 'lead',
      cell: (row) => <State kind="deployment" value={row.status} />,
    },
    {
      id: 'project',
      header: t('recent.project'),
      narrow: 'title',
      cell: (row) => (
        <TextLink {...links.deployment(teamSlug, row.id)} strong>
          {row.project.name}
        </TextLink>
      ),
    },
    { id: 'version', header: t('recent.version'), narrow: 'title', cell: (row) => <code>{row.version.name}</code> },
    { id: 'node', header: t('recent.node'), cell: (row) => row.node.name },
    { id: 'prefix', header: t('recent.prefix'), cell: (row) => <code className="text-ink-2">{row.prefix}</code> },
    {
      id: 'outcome',
      header: t('recent.outcome'),
      grow: true,
      cell: (row) => <DeploymentOutcome teamSlug={teamSlug} deployment={row} />,
    },
    {
      id: 'updated',
      header: t('recent.updated'),
      align: 'right',
      narrow: 'end',
      cell: (row) => <RelativeTime at={row.audit.updatedAt} />,
    },
  ]
  return (
    <QueryView query={query} skeleton={<SkeletonRows rows={5} />}>
      {({ items }) => (
        <Box
          title={t('recent.title')}
          tools={
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
              columns={columns}
              rowKey={(row) => row.id}
              initialSort={null}
            />
          )}
        </Box>
      )}
    </QueryView>
  )
}
