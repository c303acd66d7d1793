import { nodeStatuses, type ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { Server } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { State, StateMark } from '../../components/State.tsx'
import { statusStyle } from '../../components/status-styles.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { codeColumn, descriptionColumn, nameColumn, timeColumn } from '../../table/named-columns.tsx'
import { UpdateAllAgents } from './AgentUpdate.tsx'

const NodeForm = lazyComponent(async () => (await import('../../forms/node-form.tsx')).NodeForm)

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
        getState(node) === 'never-connected' ? (
          <StateMark appearance={statusStyle('phase', 'waiting')} label={t('notYet')} />
        ) : (
          <State kind="node" value={node.status} />
        ),
      sort: (node) => nodeStatuses.indexOf(node.status),
      narrow: 'lead',
    },
    nameColumn(t('list.name'), (node) => links.node(teamSlug, node.id)),
    {
      id: 'engine',
      header: t('list.engine'),
      cell: (node) => <span className="text-ink-2">{engineText(node) ?? t(`type.${node.type}`)}</span>,
      sort: (node) => engineText(node),
    },
    { ...codeColumn('version', t('list.version'), (node) => node.version), narrow: 'none' },
    codeColumn('address', t('list.address'), (node) => node.address),
    { ...descriptionColumn(t('list.description')), narrow: 'none' },
    {
      ...timeColumn('since', t('list.since'), (node) => (node.status === 'unreachable' ? null : node.connectedAt)),
      sort: (node) => node.connectedAt,
    },
  ]
  return (
    <ListPage
      query={query}
      title={t('list.title')}
      subtitle={(nodes) => summary(nodes, t)}
      add={{ label: t('list.add'), denied, form: (onClose) => <NodeForm teamSlug={teamSlug} onClose={onClose} /> }}
      empty={{ icon: Server, title: t('list.emptyTitle'), text: t('list.emptyText') }}
      search={t('list.filter')}
      searchText={(node) => [node.name, node.address, node.description, engineText(node)]}
      choice={{
        label: t('list.status'),
        of: getState,
        values: [...nodeStatuses, 'never-connected'],
        optionLabel: (value) => (value === 'never-connected' ? t('notYet') : t(`common:state.node.${value}`)),
      }}
      trailing={<UpdateAllAgents teamSlug={teamSlug} nodes={query.data ?? []} />}
      columns={columns}
      initialSort={{ column: 'name', direction: 'asc' }}
      tint={(node) => (getState(node) === 'unreachable' ? 'failed' : undefined)}
    />
  )
}

/** The status, except that a new node is not missed yet. */
const getState = (node: Node) => (node.status === 'unreachable' && !node.connectedAt ? 'never-connected' : node.status)

/** "Docker 28.2 on Debian GNU/Linux 12". */
export const engineText = (node: Pick<Node, 'engineVersion' | 'operatingSystem'>): string | null =>
  [node.engineVersion, node.operatingSystem].filter(Boolean).join(' on ') || null

function summary(nodes: readonly Node[], t: ReturnType<typeof useTranslation<['nodes', 'common']>>['t']): string {
  const connected = nodes.filter((node) => node.status === 'connected').length
  return connected === nodes.length
    ? t('list.allConnected', { count: nodes.length })
    : t('list.someConnected', { connected, count: nodes.length })
}
