import type { Container, ResponseOf } from '@crux/contract'
import { useNavigate } from '@tanstack/react-router'
import { Box as BoxIcon, ScrollText, Unplug, X } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useChannel } from '../../api/live.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import type { Action } from '../../components/Menu.tsx'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column, RowAction } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NoMatches } from '../../table/NoMatches.tsx'
import { nodeHost } from '../deployments/service-address.ts'
import { ContainerPorts } from './ContainerPorts.tsx'
import { ContainerState, Health } from './ContainerState.tsx'
import {
  containerKey,
  containerName,
  imageText,
  isFailing,
  isForeign,
  isInternal,
  prefixOf,
  type StateFilter,
  stateFilterOf,
} from './containers.ts'
import { useContainerActions } from './use-container-actions.ts'
import { useStopper } from './use-stopper.ts'

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'>; prefix?: string; onCount: (count: number) => void }

/** The node's containers as they are at this moment, and what can be done with each. */
export function NodeContainers({ teamSlug, node, prefix, onCount }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const navigate = useNavigate()
  const [containers, setContainers] = useState<readonly Container[] | null>(null)
  const [text, setText] = useState('')
  const [internal, setInternal] = useState(false)
  const [state, setState] = useState<StateFilter>('all')

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
  const host = nodeHost(node.address, location.hostname)

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

  const columns: Column<Container>[] = [
    {
      id: 'state',
      header: t('containers.state'),
      cell: (container) => (
        <ContainerState container={container} busy={pendingOf(container)} stoppedBy={stopper(container)} />
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
    {
      id: 'ports',
      header: t('containers.ports'),
      cell: (container) => <ContainerPorts container={container} host={host} />,
    },
    { id: 'health', header: t('containers.health'), cell: (container) => <Health container={container} />, grow: true },
    {
      id: 'age',
      header: t('containers.created'),
      cell: (container) =>
        isForeign(container) ? (
          <span className="text-ink-3">-</span>
        ) : (
          <RelativeTime at={container.createdAt} className="text-ink-2 tabular-nums" />
        ),
      sort: (container) => container.createdAt,
      align: 'right',
      narrow: 'end',
    },
  ]

  const hidden = containers.filter(isInternal).length
  const shown = internal ? containers : containers.filter((container) => !isInternal(container))
  const partOf = (container: Container) => stateFilterOf(container, Boolean(stopper(container)))
  const found = filterRows(shown, text, (container) => [
    containerName(container),
    imageText(container),
    container.state,
    container.reason,
    container.status,
  ])
  const rows = state === 'all' ? found : found.filter((container) => partOf(container) === state)
  const chips = stateFilters
    .map((value) => ({
      value,
      label: t(`containers.filterState.${value}`),
      count: value === 'all' ? found.length : found.filter((container) => partOf(container) === value).length,
    }))
    .filter(({ value, count }) => value === 'all' || value === 'running' || value === state || count > 0)
  const prefixes = new Set(rows.map(prefixOf))
  // A line for each of many small groups would only make the list longer.
  const isGrouped = prefixes.size > 1 && rows.length >= 2 * prefixes.size
  return (
    <>
      <Filters
        trailing={
          hidden > 0 && (
            <Button variant="bare" size="sm" aria-pressed={internal} onClick={() => setInternal(!internal)}>
              {internal
                ? t('containers.hideInternal', { count: hidden })
                : t('containers.showInternal', { count: hidden })}
            </Button>
          )
        }
      >
        <SearchBox label={t('containers.filter')} value={text} onChange={setText} />
        <Chips label={t('containers.state')} value={state} onChange={setState} options={chips} />
        {prefix && (
          <Button
            size="sm"
            aria-label={t('containers.allPrefixes', { prefix })}
            onClick={() => void navigate(links.node(teamSlug, node.id, { section: 'containers' }))}
          >
            {t('containers.prefix')} <code>{prefix}</code>
            <X aria-hidden className="size-3.5!" />
          </Button>
        )}
      </Filters>
      {rows.length === 0 ? (
        shown.length === 0 ? (
          <EmptyState icon={BoxIcon} title={t('containers.emptyTitle')} text={t('containers.emptyText')} />
        ) : (
          <NoMatches
            total={shown.length}
            onReset={() => {
              setText('')
              setState('all')
            }}
          />
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

const stateFilters = ['all', 'running', 'failing', 'stopped', 'other'] as const satisfies StateFilter[]
