import type { Container, ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Box as BoxIcon, ScrollText, Unplug } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useChannel } from '../../api/live.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import type { Action } from '../../components/Menu.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { links } from '../../routing/links.ts'
import type { RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { NoMatches } from '../../table/NoMatches.tsx'
import { ContainerFilters } from './ContainerFilters.tsx'
import { containerKey, isFailing, isInternal, prefixOf } from './containers.ts'
import { useContainerActions } from './use-container-actions.ts'
import { useContainerColumns } from './use-container-columns.tsx'
import { useContainerFilter } from './use-container-filter.ts'
import { useStopper } from './use-stopper.ts'

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'>; prefix?: string; onCount: (count: number) => void }

/** The node's containers as they are at this moment, and what can be done with each. */
export function NodeContainers({ teamSlug, node, prefix, onCount }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const navigate = useNavigate()
  const [containers, setContainers] = useState<readonly Container[] | null>(null)
  const send = useChannel(
    'node',
    { teamSlug, nodeId: node.id },
    {
      ready: (channel) => channel.send('watch-containers-state', prefix ? { prefix } : {}),
      'containers-state-list': (list) => {
        if ((list.prefix ?? '') !== (prefix ?? '')) return
        setContainers(list.containers)
        onCount(list.containers.filter((container) => !isInternal(container)).length)
      },
    },
  )
  const { actionsOf, pendingOf } = useContainerActions({ teamSlug, nodeId: node.id, containers, send })

  const stopper = useStopper(teamSlug, node.id, containers)
  const columns = useContainerColumns({ teamSlug, node, stopper, pendingOf })
  const filter = useContainerFilter(containers ?? [], stopper)

  if (node.status === 'unreachable')
    return <EmptyState icon={Unplug} title={t('containers.awayTitle')} text={t('containers.awayText')} />
  if (!containers) return <SkeletonRows />

  const actions = (container: Container): RowAction[] => {
    const { operate, restart, remove, foreign } = actionsOf(container)
    const inline = (action: Action): RowAction => ({ ...action, inline: true })
    return [
      inline(operate),
      inline(restart),
      {
        id: 'log',
        label: t('containers.log'),
        icon: ScrollText,
        inline: true,
        disabledReason: foreign,
        run: () => void navigate(links.containerLog(teamSlug, node.id, container.managed ?? container.id)),
      },
      inline(remove),
    ]
  }

  const { rows, total } = filter
  const prefixes = new Set(rows.map(prefixOf))
  // A line for each of many small groups would only make the list longer.
  const isGrouped = prefixes.size > 1 && rows.length >= 2 * prefixes.size
  return (
    <>
      <ContainerFilters filter={filter} teamSlug={teamSlug} nodeId={node.id} prefix={prefix} />
      {rows.length === 0 ? (
        total === 0 ? (
          <EmptyState icon={BoxIcon} title={t('containers.emptyTitle')} text={t('containers.emptyText')} />
        ) : (
          <NoMatches total={total} onReset={filter.reset} />
        )
      ) : (
        <DataTable
          label={t('section.containers')}
          rows={rows}
          columns={columns}
          rowKey={containerKey}
          actions={actions}
          initialSort={{ column: 'name', direction: 'asc' }}
          groupBy={isGrouped ? prefixOf : undefined}
          noGroup={t('containers.noPrefix')}
          tint={(container) => (isFailing(container) && !stopper(container) ? 'failed' : undefined)}
        />
      )}
    </>
  )
}
