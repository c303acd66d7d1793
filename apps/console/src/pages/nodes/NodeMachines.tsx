import type { Machine, ResponseOf } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { CircleAlert, CirclePause, Server, Unplug } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { EmptyState } from '../../components/EmptyState.tsx'
import { MiddleEllipsis } from '../../components/MiddleEllipsis.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { StateMark } from '../../components/State.tsx'
import { type StatusStyle, statusStyle } from '../../components/status-styles.ts'
import { Tooltip } from '../../components/Tooltip.tsx'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { NoMatches } from '../../table/NoMatches.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { Capacity } from './Capacity.tsx'
import { ClusterTotals } from './ClusterTotals.tsx'
import { resourceNames } from './capacity.ts'
import { MissingMachineRight } from './MissingMachineRight.tsx'

type Props = { teamSlug: string; node: ResponseOf<'nodes.get'> }

const refetchIntervalMs = 15_000

/** The machines of a cluster with their capacity, read again while the page is open. */
export function NodeMachines({ teamSlug, node }: Props) {
  const { t } = useTranslation(['nodes', 'common'])
  const [search, setSearch] = useState('')
  const [page, setPage] = useState({ skip: 0, take: 50 })
  const isUnavailable = node.status === 'unreachable' || node.status === 'outdated'
  const query = useQuery({
    ...apiQuery('nodes.machines', {
      params: { teamSlug, nodeId: node.id },
      query: { ...page, ...(search.trim() !== '' && { search: search.trim() }) },
    }),
    enabled: !isUnavailable,
    staleTime: 0,
    refetchInterval: refetchIntervalMs,
    placeholderData: keepPreviousData,
  })
  const columns = useColumns(query.data?.cluster.requested != null)
  const find = (text: string) => {
    setSearch(text)
    setPage({ ...page, skip: 0 })
  }
  if (isUnavailable) return <EmptyState icon={Unplug} title={t('machines.awayTitle')} text={t('machines.awayText')} />
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows filters />}
      isEmpty={({ cluster, missingRight }) => !missingRight && cluster.machines === 0}
      empty={<EmptyState icon={Server} title={t('machines.emptyTitle')} text={t('machines.emptyText')} />}
    >
      {({ cluster, items, missingRight, total }) =>
        missingRight ? (
          <MissingMachineRight missingRight={missingRight} />
        ) : (
          <>
            <ClusterTotals cluster={cluster} name={node.name} />
            <Filters>
              <SearchBox label={t('machines.filter')} value={search} onChange={find} delayMs={300} />
            </Filters>
            {items.length === 0 && total === 0 ? (
              <NoMatches total={cluster.machines} onReset={() => find('')} />
            ) : (
              <DataTable
                label={t('section.machines')}
                rows={items}
                columns={columns}
                rowKey={(machine) => machine.name}
                initialSort={null}
                tint={(machine) => (machine.ready ? undefined : 'failed')}
                footer={<Pagination {...page} total={total} onChange={setPage} />}
              />
            )}
          </>
        )
      }
    </QueryView>
  )
}

function useColumns(areRequestsKnown: boolean): Column<Machine>[] {
  const { t } = useTranslation('nodes')
  return [
    {
      id: 'state',
      header: t('machines.state'),
      cell: (machine) => <StateMark appearance={toAppearance(machine)} label={toLabel(machine, t)} />,
      narrow: 'lead',
    },
    {
      id: 'name',
      header: t('machines.name'),
      cell: ({ name }) => (
        <code>
          <MiddleEllipsis text={name} />
        </code>
      ),
      narrow: 'title',
    },
    ...resourceNames.map(
      (resource): Column<Machine> => ({
        id: resource,
        header: t(`machines.${areRequestsKnown ? 'requested' : 'resource'}.${resource}`),
        cell: ({ allocatable, name, requested }) => (
          <Capacity
            name={resource}
            allocatable={allocatable[resource]}
            requested={requested?.[resource] ?? null}
            owner={name}
            className="w-28 max-md:w-24 max-md:pb-1"
          >
            <span className="md:hidden">{t(`machines.resource.${resource}`)}</span>
          </Capacity>
        ),
      }),
    ),
    {
      id: 'problem',
      header: t('machines.problem'),
      cell: ({ problems }) => {
        const text = problems.map(problemText).join('; ')
        return (
          <Tooltip content={text}>
            <span className="text-ink-2">{text}</span>
          </Tooltip>
        )
      },
      grow: true,
    },
    {
      id: 'version',
      header: t('machines.version'),
      cell: ({ architecture, kubeletVersion }) => (
        <span className="mono text-ink-2">{[kubeletVersion, architecture].filter(Boolean).join(' ')}</span>
      ),
      narrow: 'end',
    },
  ]
}

function toAppearance({ cordoned, problems, ready }: Machine): StatusStyle {
  if (!ready) return statusStyle('container', 'exited')
  if (problems.length > 0) return { tone: 'progress', icon: CircleAlert }
  return cordoned ? { tone: 'progress', icon: CirclePause } : statusStyle('container', 'running')
}

function toLabel({ cordoned, ready }: Machine, t: ReturnType<typeof useTranslation<'nodes'>>['t']): string {
  if (ready) return t(cordoned ? 'machines.cordoned' : 'machines.isReady')
  return t(cordoned ? 'machines.notReadyCordoned' : 'machines.notReady')
}

/** "KubeletNotReady: the runtime is down", "DiskPressure". */
const problemText = ({ message, reason, type }: Machine['problems'][number]): string => {
  const what = type === 'NotReady' ? reason || type : type
  return message ? `${what}: ${message}` : what
}
