import type { ResponseOf } from '@crux/contract'
import { nodeStatuses } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Server } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { State, StateMark } from '../../components/State.tsx'
import { statusStyle } from '../../components/status-styles.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ListPage } from '../../table/ListPage.tsx'

const NodeForm = lazyComponent(() => import('../../forms/node-form.tsx').then((module) => module.NodeForm))

type Node = ResponseOf<'nodes.list'>[number]

export function NodesPage() {
  const { t } = useTranslation(['nodes', 'common'])
  const { teamSlug } = useParams({ from: '/app/$teamSlug/nodes' })
  const query = useQuery(apiQuery('nodes.list', { params: { teamSlug } }))
  const denied = useDenied('nodes.create')

  const columns: Column<Node>[] = [
    {
      id: 'status',
      header: t('list.status'),
      cell: (node) =>
        stateOf(node) === 'never-connected' ? (
          <StateMark appearance={statusStyle('phase', 'waiting')} label={t('notYet')} />
        ) : (
          <State kind="node" value={node.status} />
        ),
      sort: (node) => nodeStatuses.indexOf(node.status),
      narrow: 'lead',
    },
    {
      id: 'name',
      header: t('list.name'),
      cell: (node) => (
        <TextLink {...links.node(teamSlug, node.id)} strong>
          {node.name}
        </TextLink>
      ),
      sort: (node) => node.name,
      narrow: 'title',
    },
    {
      id: 'engine',
      header: t('list.engine'),
      cell: (node) => <span className="text-ink-2">{engineText(node) ?? t(`type.${node.type}`)}</span>,
      sort: (node) => engineText(node),
    },
    {
      id: 'version',
      header: t('list.version'),
      cell: (node) => <span className="mono text-ink-2">{node.version ?? '-'}</span>,
      sort: (node) => node.version,
      narrow: 'none',
    },
    {
      id: 'address',
      header: t('list.address'),
      cell: ({ address }) => (
        <span className="mono text-ink-2" data-no-value={address === null || undefined}>
          {address ?? '-'}
        </span>
      ),
      sort: (node) => node.address,
    },
    {
      id: 'description',
      header: t('list.description'),
      cell: (node) => <span className="text-ink-2">{node.description}</span>,
      grow: true,
      narrow: 'none',
    },
    {
      id: 'since',
      header: t('list.since'),
      cell: (node) => (
        <RelativeTime
          at={node.status === 'unreachable' ? null : node.connectedAt}
          className="text-ink-2 tabular-nums"
        />
      ),
      sort: (node) => node.connectedAt,
      align: 'right',
      narrow: 'end',
    },
  ]
  return (
    <ListPage
      query={query}
      title={t('list.title')}
      subtitle={(nodes) => nodes.length > 0 && summary(nodes, t)}
      add={{
        label: t('list.add'),
        denied,
        form: (onClose) => <NodeForm teamSlug={teamSlug} onClose={onClose} />,
      }}
      empty={{ icon: Server, title: t('list.emptyTitle'), text: t('list.emptyText') }}
    >
      {(nodes) => (
        <FilteredList
          rows={nodes}
          search={t('list.filter')}
          searchText={(node) => [node.name, node.address, node.description, engineText(node)]}
          choice={{
            label: t('list.status'),
            of: stateOf,
            values: [...nodeStatuses, 'never-connected'],
            optionLabel: (value) => (value === 'never-connected' ? t('notYet') : t(`common:state.node.${value}`)),
          }}
        >
          {(rows) => (
            <DataTable
              label={t('list.title')}
              rows={rows}
              columns={columns}
              rowKey={(node) => node.id}
              initialSort={{ column: 'name', direction: 'asc' }}
              tint={(node) => (stateOf(node) === 'unreachable' ? 'failed' : undefined)}
            />
          )}
        </FilteredList>
      )}
    </ListPage>
  )
}

/** The status, except that a new node is not missed yet. */
const stateOf = (node: Node) => (node.status === 'unreachable' && !node.connectedAt ? 'never-connected' : node.status)

/** "Docker 28.2 on Debian GNU/Linux 12". */
export const engineText = (node: Pick<Node, 'engineVersion' | 'operatingSystem'>): string | null =>
  [node.engineVersion, node.operatingSystem].filter(Boolean).join(' on ') || null

function summary(nodes: readonly Node[], t: ReturnType<typeof useTranslation<['nodes', 'common']>>['t']): string {
  const connected = nodes.filter((node) => node.status === 'connected').length
  return connected === nodes.length
    ? t('list.allConnected', { count: nodes.length })
    : t('list.someConnected', { connected, count: nodes.length })
}
