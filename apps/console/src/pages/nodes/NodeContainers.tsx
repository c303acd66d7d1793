import type { Container, ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Box as BoxIcon, ScrollText, Unplug } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useChannel } from '../../api/live.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import type { Action } from '../../components/Menu.tsx'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column, RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { NoMatches } from '../../table/NoMatches.tsx'
import { nodeHost } from '../deployments/service-address.ts'
import { ContainerFilters } from './ContainerFilters.tsx'
import { ContainerPorts } from './ContainerPorts.tsx'
import { ContainerState, Health } from './ContainerState.tsx'
import { containerKey, containerName, getPrefix, imageText, isFailing, isForeign, isInternal } from './containers.ts'
import { ExternalAddressCell } from './ExternalAddresses.tsx'
import { withPods } from './pods.ts'
import { type PodFolds, podsColumn, usePodFolds } from './pods-column.tsx'
import { useContainerActions } from './use-container-actions.ts'
import { useContainerFilter } from './use-container-filter.ts'
import { useStopper } from './use-stopper.ts'

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'>; prefix?: string; onCount: (count: number) => void }

/** The node's containers as they are at this moment, and what can be done with each. */
export function NodeContainers(props: Props) {
  const { teamSlug, node, prefix, onCount } = props
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
        setContainers(withPods(list.containers, node.type))
        onCount(list.containers.filter((container) => !isInternal(container)).length)
      },
    },
  )
  const { listActions, getPending } = useContainerActions({ teamSlug, node, containers, send })

  const stopper = useStopper(teamSlug, node.id, containers)
  const folds = usePodFolds(teamSlug, node.id)
  const hasAddresses = containers?.some(({ externalAddresses = [] }) => externalAddresses.length > 0) === true
  const columns = useColumns(props, stopper, getPending, folds, hasAddresses)
  const filter = useContainerFilter(containers ?? [], stopper)

  if (node.status === 'unreachable')
    return <EmptyState icon={Unplug} title={t('containers.awayTitle')} text={t('containers.awayText')} />
  if (!containers) return <SkeletonRows />

  const actions = (container: Container): RowAction[] => {
    const { operate, restart, remove, foreign } = listActions(container)
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
  const prefixes = new Set(rows.map(getPrefix))
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
          groupBy={isGrouped ? getPrefix : undefined}
          noGroup={t('containers.noPrefix')}
          below={folds.below}
          tint={(container) => (isFailing(container) && !stopper(container) ? 'failed' : undefined)}
        />
      )}
    </>
  )
}

function useColumns(
  { teamSlug, node }: Props,
  stopper: ReturnType<typeof useStopper>,
  getPending: ReturnType<typeof useContainerActions>['getPending'],
  folds: PodFolds,
  hasAddresses: boolean,
): Column<Container>[] {
  const { t } = useTranslation('nodes')
  const host = nodeHost(node.address, location.hostname)
  return [
    {
      id: 'state',
      header: t('containers.state'),
      cell: (container) => (
        <ContainerState container={container} busy={getPending(container)} stoppedBy={stopper(container)} />
      ),
      sort: (container) => container.state,
      narrow: 'lead',
    },
    {
      id: 'name',
      header: t('containers.name'),
      cell: (container) =>
        isForeign(container) ? (
          <span className="text-ink-2" title={t('containers.notYours')}>
            <MiddleEllipsis text={containerName(container)} />
          </span>
        ) : (
          <TextLink {...links.containerInspect(teamSlug, node.id, container.managed ?? container.id)} strong>
            <MiddleEllipsis text={containerName(container)} />
          </TextLink>
        ),
      sort: containerName,
      narrow: 'title',
    },
    {
      id: 'image',
      header: t('containers.image'),
      cell: (container) => (
        <span className="mono text-ink-2">
          <MiddleEllipsis text={imageText(container)} />
        </span>
      ),
      sort: imageText,
    },
    ...(node.type === 'k8s' ? [podsColumn(t('pods.title'), folds)] : []),
    {
      id: 'ports',
      header: t('containers.ports'),
      cell: (container) => <ContainerPorts container={container} host={host} />,
    },
    ...(hasAddresses
      ? [
          {
            id: 'addresses',
            header: t('addresses.title'),
            cell: (container: Container) => <ExternalAddressCell container={container} />,
          },
        ]
      : []),
    { id: 'health', header: t('containers.health'), cell: (container) => <Health container={container} />, grow: true },
    {
      id: 'age',
      header: t('containers.created'),
      cell: (container) =>
        isForeign(container) ? (
          <span data-no-value className="text-ink-3">
            -
          </span>
        ) : (
          <RelativeTime at={container.createdAt} className="text-ink-2 tabular-nums" />
        ),
      sort: (container) => container.createdAt,
      align: 'right',
      narrow: 'end',
    },
  ]
}
