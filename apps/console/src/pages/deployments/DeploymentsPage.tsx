import { type Deployment, deploymentStatuses, type ResponseOf } from '@crux/contract'
import { deploymentAction } from '@crux/rules'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Copy, ExternalLink, Plus, Rocket, ScrollText, StickyNote, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { Select } from '../../components/Field.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { useNarrow } from '../../components/use-media.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { type DeploymentFilters, links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { ColumnPicker } from '../../table/ColumnPicker.tsx'
import type { RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { useLastPage } from '../../table/use-last-page.ts'
import { refetchIntervalMs } from './DeploymentOutcome.tsx'
import { useDeploymentColumns } from './use-deployment-columns.tsx'
import { useStart } from './use-start.ts'

const DeploymentCopy = lazyComponent(() =>
  import('../../forms/deployment-copy.tsx').then((module) => module.DeploymentCopy),
)
const DeploymentCreate = lazyComponent(() =>
  import('../../forms/deployment-create.tsx').then((module) => module.DeploymentCreate),
)
const DeleteDeployment = lazyComponent(() => import('./DeleteDeployment.tsx').then((module) => module.DeleteDeployment))

type Layer = { kind: 'copy' | 'delete'; deployment: Deployment } | null

export function DeploymentsPage() {
  const { t } = useTranslation(['deployments', 'common'])
  const { teamSlug } = useParams({ from: '/app/$teamSlug/deployments' })
  const search = useSearch({ from: '/app/$teamSlug/deployments' })
  const navigate = useNavigate()
  const page = { skip: search.skip ?? 0, take: search.take ?? 10 }
  const filtered = Boolean(search.filter || search.status || search.nodeId)
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
  const denied = {
    create: useDenied('deployments.create'),
    copy: useDenied('deployments.copy'),
    delete: useDenied('deployments.delete'),
  }
  const narrow = useNarrow()
  const [layer, setLayer] = useState<Layer>(null)
  const { columns, picker } = useDeploymentColumns(teamSlug)
  const { askAndStart, startDenied } = useStart(teamSlug)
  const go = (change: DeploymentFilters, replace = false) =>
    void navigate({ ...links.deployments(teamSlug, { ...search, ...change }), replace })
  const filter = (change: DeploymentFilters) => go({ ...change, skip: undefined })
  useLastPage(page, query.isPlaceholderData ? undefined : query.data?.total, (last) => go(last, true))

  const actions = (row: Deployment): RowAction[] => {
    const facts = { status: row.status, versionType: row.version.type }
    const reason = (action: Parameters<typeof deploymentAction>[0]) => {
      const verdict = deploymentAction(action, facts)
      return verdict.allowed ? null : verdict.reason
    }
    return [
      {
        id: 'log',
        label: t('action.log'),
        icon: ScrollText,
        inline: true,
        disabledReason: reason('read-log'),
        run: () => void navigate(links.deploymentProgress(teamSlug, row.id)),
      },
      {
        id: 'copy',
        label: t('action.copy'),
        icon: Copy,
        inline: true,
        disabledReason: denied.copy ?? reason('copy'),
        run: () => setLayer({ kind: 'copy', deployment: row }),
      },
      {
        id: 'open',
        label: t('action.open'),
        icon: ExternalLink,
        run: () => void navigate(links.deployment(teamSlug, row.id)),
      },
      {
        id: 'deploy',
        label: t('action.deploy'),
        icon: Rocket,
        disabledReason: startDenied ?? reason('deploy'),
        run: () => void askAndStart(row),
      },
      {
        id: 'note',
        label: t('action.note'),
        icon: StickyNote,
        disabledReason: !row.note && t('action.noNote'),
        run: () =>
          void confirm({ title: t('action.note'), text: row.note ?? '', action: t('common:close'), info: true }),
      },
      {
        id: 'delete',
        label: t('common:delete'),
        icon: Trash2,
        danger: true,
        disabledReason: denied.delete ?? reason('delete'),
        run: () => setLayer({ kind: 'delete', deployment: row }),
      },
    ]
  }
  const isEmpty = query.data?.total === 0 && !filtered
  const add = (
    <Button variant="main" icon={Plus} disabledReason={denied.create} onClick={create.show}>
      {t('list.add')}
    </Button>
  )

  return (
    <>
      <PageHeader
        title={t('list.title')}
        subtitle={query.data && <Summary page={query.data} nodes={nodes.data?.length} />}
        tools={!isEmpty && add}
      />
      {!isEmpty && (
        <Filters trailing={narrow ? undefined : <ColumnPicker {...picker} />}>
          <SearchBox
            label={t('list.filter')}
            value={search.filter ?? ''}
            onChange={(text) => filter({ filter: text || undefined })}
            delayMs={400}
          />
          <span className="max-md:hidden">
            <Chips
              label={t('list.status')}
              value={search.status ?? 'all'}
              onChange={(status) => filter({ status: status === 'all' ? undefined : status })}
              options={statusChips(query.data?.counts, t)}
            />
          </span>
          <span className="wide:hidden flex-1">
            <Select
              aria-label={t('list.status')}
              value={search.status ?? ''}
              onChange={(event) =>
                filter({ status: deploymentStatuses.find((status) => status === event.target.value) })
              }
            >
              <option value="">{t('list.anyStatus')}</option>
              {deploymentStatuses.map((status) => (
                <option key={status} value={status}>
                  {t(`common:state.deployment.${status}`)}
                </option>
              ))}
            </Select>
          </span>
          {(nodes.data?.length ?? 0) > 1 && (
            <span className="max-md:flex-1 wide:w-40">
              <Select
                aria-label={t('list.node')}
                value={search.nodeId ?? ''}
                onChange={(event) => filter({ nodeId: event.target.value || undefined })}
              >
                <option value="">{t('list.anyNode')}</option>
                {nodes.data?.map((node) => (
                  <option key={node.id} value={node.id}>
                    {node.name}
                  </option>
                ))}
              </Select>
            </span>
          )}
        </Filters>
      )}
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={10} />}
        empty={{
          when: (data) => data.total === 0,
          show: filtered ? (
            <EmptyState
              icon={Rocket}
              title={t('common:filter.nothing')}
              text={t('list.nothingText')}
              action={
                <Button onClick={() => void navigate(links.deployments(teamSlug))}>{t('common:filter.reset')}</Button>
              }
            />
          ) : (
            <EmptyState icon={Rocket} title={t('list.emptyTitle')} text={t('list.emptyText')} action={add} />
          ),
        }}
      >
        {({ items, total }) => (
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
            footer={<Pagination {...page} total={total} onChange={(to) => go(to)} />}
          />
        )}
      </QueryView>
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

const order = ['in-progress', 'failed', 'preparing', 'successful', 'obsolete'] as const
type T = ReturnType<typeof useTranslation<['deployments', 'common']>>['t']

function statusChips(counts: Record<string, number> | undefined, t: T) {
  const total = counts && Object.values(counts).reduce((sum, count) => sum + count, 0)
  return [
    { value: 'all' as const, label: t('common:all'), count: total },
    // Most deployments are done, and their number requires no action.
    ...order.map((value) => ({
      value,
      label: t(`common:state.deployment.${value}`),
      count: value === 'successful' || value === 'obsolete' ? undefined : (counts?.[value] ?? (counts && 0)),
    })),
  ]
}

/** "1 in progress, 1 failed, 22 healthy on 5 nodes" */
function Summary({ page, nodes }: { page: ResponseOf<'deployments.list'>; nodes: number | undefined }) {
  const { t } = useTranslation(['deployments', 'common'])
  const { counts } = page
  if (!counts) return t('list.total', { count: page.total })
  if (Object.values(counts).every((count) => count === 0)) return null
  const parts = [
    counts['in-progress'] ? t('list.inProgress', { count: counts['in-progress'] }) : null,
    counts.failed ? t('list.failed', { count: counts.failed }) : null,
    t('list.healthy', { count: counts.successful ?? 0 }),
  ].filter(Boolean)
  return nodes === undefined ? parts.join(', ') : t('list.onNodes', { text: parts.join(', '), count: nodes })
}
