import type { Container, Result } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Box as BoxIcon, Info, Play, RotateCw, ScrollText, Square, Trash2, Unplug, X } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useChannel, useLinkStatus } from '../../api/live.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { confirm } from '../../components/confirm.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { StateMark } from '../../components/State.tsx'
import { lookOf } from '../../components/state-looks.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../links.ts'
import { type Column, DataTable, type RowAction } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NothingFits } from '../../table/NothingFits.tsx'
import { ContainerPorts } from './ContainerPorts.tsx'
import {
  containerKey,
  containerLook,
  containerName,
  isFailing,
  isForeign,
  isInternal,
  isStopNoticed,
  ownWords,
  type PendingOperation,
  prefixOf,
  type StateFilter,
  stateFilterOf,
} from './containers.ts'
import { nodeHost } from './service-address.ts'
import { stoppedBy } from './stopped-by.ts'
import { useContainerOperations } from './use-container-operations.ts'

type Props = { teamSlug: string; node: Result<'nodes.get'>; prefix?: string; onCount: (count: number) => void }

/** The node's containers as they are at this moment, and what can be done with each. */
export function NodeContainers({ teamSlug, node, prefix, onCount }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const navigate = useNavigate()
  const link = useLinkStatus()
  const [containers, setContainers] = useState<readonly Container[] | null>(null)
  const [text, setText] = useState('')
  const [internal, setInternal] = useState(false)
  const [state, setState] = useState<StateFilter>('all')
  const mayDelete = useDenied('node/delete-container')
  const mayOperate = useDenied('node/container-command')

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
  const operations = useContainerOperations(containers, `/${teamSlug}/nodes/${node.id}`, (container, operation) =>
    operation === 'delete'
      ? send('delete-container', { container: container.id })
      : send('container-command', { container: container.id, operation }),
  )

  const stopper = useStopper(teamSlug, node.id, containers)
  const host = nodeHost(node.address, location.hostname)

  if (node.status === 'unreachable')
    return <EmptyState icon={Unplug} title={t('containers.awayTitle')} text={t('containers.awayText')} />
  if (!containers) return <SkeletonRows />

  const remove = async (container: Container) => {
    const name = containerName(container)
    const sure = await confirm({
      title: t('containers.deleteTitle', { name }),
      text: t('containers.deleteText'),
      action: t('containers.delete'),
      danger: true,
    })
    if (sure) operations.run(container, 'delete')
  }
  /** A stop takes a service down with one press on a small icon: asked first where somebody would notice. */
  const stop = async (container: Container) => {
    const name = containerName(container)
    const published = container.ports.flatMap(({ external }) => external ?? [])
    const sure =
      !isStopNoticed(container) ||
      (await confirm({
        title: t('containers.stopTitle', { name }),
        text: [
          ...(published.length > 0
            ? [t('containers.stopPorts', { count: published.length, ports: published.join(', ') })]
            : []),
          t('containers.stopText'),
        ].join(' '),
        action: t('containers.stop'),
        danger: true,
      }))
    if (sure) operations.run(container, 'stop')
  }
  const stale = link !== 'open' && t('containers.offline')
  const actions = (container: Container): RowAction[] => {
    const running = container.state === 'running'
    const busy = operations.pendingOf(container)
    const foreign = isForeign(container) && t('containers.notYours')
    const ref = container.managed ?? container.id
    const off = foreign || stale || mayOperate || (busy && t(`containers.busy.${busy}`))
    const inline = (
      operation: Exclude<PendingOperation['operation'], 'delete'>,
      icon: typeof Play,
      extra: string | false = false,
    ): RowAction => ({
      id: operation,
      label: t(`containers.${operation}`),
      icon,
      inline: true,
      disabledReason: off || extra,
      run: () => (operation === 'stop' ? void stop(container) : operations.run(container, operation)),
    })
    return [
      running
        ? inline('stop', Square)
        : inline('start', Play, container.state !== 'exited' && container.state !== null && t('containers.notExited')),
      inline('restart', RotateCw, !running && t('containers.notRunning')),
      {
        id: 'log',
        label: t('containers.log'),
        icon: ScrollText,
        inline: true,
        disabledReason: foreign,
        run: () => void navigate(links.containerLog(teamSlug, node.id, ref)),
      },
      {
        id: 'inspect',
        label: t('containers.inspect'),
        icon: Info,
        inline: true,
        disabledReason: foreign,
        run: () => void navigate(links.containerInspect(teamSlug, node.id, ref)),
      },
      {
        id: 'delete',
        label: t('containers.delete'),
        icon: Trash2,
        inline: true,
        danger: true,
        disabledReason: foreign || stale || mayDelete || (busy && t(`containers.busy.${busy}`)),
        run: () => void remove(container),
      },
    ]
  }

  const columns: Column<Container>[] = [
    {
      id: 'state',
      header: t('containers.state'),
      cell: (container) => (
        <ContainerState container={container} busy={operations.pendingOf(container)} stoppedBy={stopper(container)} />
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
        aside={
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
          <NothingFits
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
          groupBy={isGrouped ? (container) => prefixOf(container) || t('containers.noPrefix') : undefined}
          tint={(container) => (isFailing(container) && !stopper(container) ? 'failed' : undefined)}
        />
      )}
    </>
  )
}

const stateFilters = ['all', 'running', 'failing', 'stopped', 'other'] as const satisfies StateFilter[]

/** Asks the node's events who stopped what, as soon as something has exited. They are stored: any server knows them. */
function useStopper(teamSlug: string, nodeId: string, containers: readonly Container[] | null) {
  const exited = containers?.filter(({ state }) => state === 'exited') ?? []
  const from = useMemo(() => new Date(Date.now() - eventsMs), [])
  const events = useQuery({
    ...apiQuery('nodes.audit', {
      params: { teamSlug, nodeId },
      query: {
        from,
        to: new Date(from.getTime() + 2 * eventsMs),
        skip: 0,
        take: 200,
        filterEventType: 'containerCommand',
      },
    }),
    enabled: exited.length > 0,
    // A stop is stored when the engine has answered, which is about when the list shows it.
    refetchInterval: exited.some(({ status }) => /second/.test(status ?? '')) ? 2_000 : false,
  })
  const { data } = events
  return (container: Container) => (data ? stoppedBy(container, data.items) : undefined)
}
/** Older stops are shown as the engine words them. */
const eventsMs = 30 * 24 * 3_600_000

const imageText = (container: Container) =>
  `${container.imageName}${container.imageTag ? `:${container.imageTag}` : ''}`

function ContainerState({
  container,
  busy,
  stoppedBy,
}: {
  container: Container
  busy?: PendingOperation['operation']
  stoppedBy?: string
}) {
  const { t } = useTranslation(['nodes', 'common'])
  if (busy) return <StateMark look={lookOf('phase', 'running')} word={t(`containers.busy.${busy}`)} />
  const { look, exitCode } = containerLook(container, stoppedBy !== undefined)
  const word = stoppedBy
    ? t('containers.stoppedBy', { name: stoppedBy })
    : exitCode === null
      ? t(`common:state.container.${container.state ?? 'unknown'}`)
      : t('containers.exited', { code: exitCode })
  return <StateMark look={look} word={word} reason={container.status ?? undefined} />
}

const healthWords = ['healthy', 'unhealthy', 'starting'] as const

/** A word that the engine may add one day is shown as it is. */
function healthWord(health: string, t: ReturnType<typeof useTranslation<['nodes', 'common']>>['t']): string {
  const known = healthWords.find((word) => word === health)
  if (known) return t(`containers.healthWord.${known}`)
  return health === 'none' ? '' : health
}

function Health({ container }: { container: Container }) {
  const { t } = useTranslation(['nodes', 'common'])
  const health = container.state !== 'running' ? null : healthWord(container.health ?? '', t)
  if (isForeign(container)) return <span className="text-ink-3">{t('containers.others')}</span>
  const restarts = container.restartCount ? t('containers.restarts', { count: container.restartCount }) : null
  const parts = [ownWords(container) ?? health, restarts].filter(Boolean)
  if (parts.length === 0) return <span className="text-ink-3 max-md:hidden">-</span>
  return <span className={isFailing(container) ? undefined : 'text-ink-2'}>{parts.join(', ')}</span>
}
