import type { Deployment, ResponseOf } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Plus, Rocket } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links, type DeploymentFilters as Search } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { PagedListPage } from '../../table/PagedListPage.tsx'
import { usePagedSearch } from '../../table/use-paged-search.ts'
import { DeploymentFilters } from './DeploymentFilters.tsx'
import { refetchIntervalMs } from './DeploymentOutcome.tsx'
import { useChosenColumns } from './use-chosen-columns.tsx'
import { useDeploymentActions } from './use-deployment-actions.ts'
import { useStart } from './use-start.ts'

const DeploymentCopy = lazyComponent(async () => (await import('../../forms/deployment-copy.tsx')).DeploymentCopy)
const DeploymentCreate = lazyComponent(async () => (await import('../../forms/deployment-create.tsx')).DeploymentCreate)
const DeleteDeployment = lazyComponent(async () => (await import('./DeleteDeployment.tsx')).DeleteDeployment)

type Layer = { kind: 'copy' | 'delete'; deployment: Deployment } | null

export function DeploymentsPage() {
  const { t } = useTranslation(['deployments', 'common'])
  const { teamSlug } = useParams({ from: '/app/$teamSlug/deployments' })
  const search = useSearch({ from: '/app/$teamSlug/deployments' })
  const navigate = useNavigate()
  const { page, goTo, filter } = usePagedSearch<Search>(search, 10, (next) => links.deployments(teamSlug, next))
  const isFiltered = Boolean(search.filter || search.status || search.nodeId)
  const query = useQuery({
    ...apiQuery('deployments.list', {
      params: { teamSlug },
      query: { ...page, filter: search.filter, status: search.status, nodeId: search.nodeId },
    }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => refetchIntervalMs(state.data?.items),
  })
  const nodes = useQuery(apiQuery('nodes.list', { params: { teamSlug } }))
  const create = useAnchor('new')
  const createDenied = useDenied('deployments.create')
  const [layer, setLayer] = useState<Layer>(null)
  const { columns, picker } = useChosenColumns(teamSlug)
  const { askAndStart, startDenied } = useStart(teamSlug)
  const actions = useDeploymentActions(teamSlug, {
    askAndStart,
    startDenied,
    onCopy: (deployment) => setLayer({ kind: 'copy', deployment }),
    onDelete: (deployment) => setLayer({ kind: 'delete', deployment }),
  })
  const isEmpty = query.data?.total === 0 && !isFiltered
  const add = (
    <Button variant="main" icon={Plus} disabledReason={createDenied} onClick={create.show}>
      {t('list.add')}
    </Button>
  )

  return (
    <>
      <PagedListPage
        query={query}
        title={t('list.title')}
        subtitle={(data) => <Summary page={data} nodes={nodes.data?.length} />}
        actions={!isEmpty && add}
        filters={
          !isEmpty && (
            <DeploymentFilters
              search={search}
              filter={filter}
              counts={query.data?.counts}
              nodes={nodes.data}
              picker={picker}
            />
          )
        }
        page={page}
        goTo={goTo}
        empty={{ icon: Rocket, title: t('list.emptyTitle'), text: t('list.emptyText'), action: add }}
        noMatches={isFiltered ? { text: t('list.nothingText') } : undefined}
        onReset={() => void navigate(links.deployments(teamSlug))}
      >
        {(items, pagination) => (
          <DataTable
            label={t('list.title')}
            rows={items}
            columns={columns}
            rowKey={(row) => row.id}
            initialSort={null}
            actions={actions}
            rowButton={(row) =>
              (row.status === 'failed' || row.status === 'preparing') && (
                <Button size="sm" disabledReason={startDenied} onClick={() => void askAndStart(row)}>
                  {t(row.status === 'failed' ? 'action.again' : 'action.deploy')}
                </Button>
              )
            }
            footer={pagination}
          />
        )}
      </PagedListPage>
      {create.open && <DeploymentCreate teamSlug={teamSlug} onClose={create.close} />}
      {layer?.kind === 'copy' && (
        <DeploymentCopy teamSlug={teamSlug} deployment={layer.deployment} onClose={() => setLayer(null)} />
      )}
      {layer?.kind === 'delete' && (
        <DeleteDeployment teamSlug={teamSlug} deployment={layer.deployment} onClose={() => setLayer(null)} />
      )}
    </>
  )
}

/** "1 in progress, 1 failed, 22 successful, 5 nodes" */
function Summary({ page, nodes }: { page: ResponseOf<'deployments.list'>; nodes: number | undefined }) {
  const { t } = useTranslation(['deployments', 'common'])
  const { counts } = page
  if (!counts) return t('list.total', { count: page.total })
  if (Object.values(counts).every((count) => count === 0)) return null
  const parts = [
    counts['in-progress'] ? t('list.inProgress', { count: counts['in-progress'] }) : null,
    counts.failed ? t('list.failed', { count: counts.failed }) : null,
    t('list.successful', { count: counts.successful ?? 0 }),
  ].filter(Boolean)
  return nodes === undefined ? parts.join(', ') : t('list.andNodes', { text: parts.join(', '), count: nodes })
}
