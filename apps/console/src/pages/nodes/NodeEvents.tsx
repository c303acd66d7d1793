import { type NodeEventType, nodeEventTypes, type ResponseOf } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Braces, ScrollText } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Chips } from '../../components/Chips.tsx'
import { CodeBlock } from '../../components/CodeBlock.tsx'
import { DateRange, rangeOfDays } from '../../components/DateRange.tsx'
import { Dialog } from '../../components/Dialog.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { Pagination } from '../../table/Pagination.tsx'

type Event = ResponseOf<'nodes.audit'>['items'][number]

/** The events of this node: connections and disconnections of its agent, and container commands. */
export function NodeEvents({ teamSlug, nodeId }: { teamSlug: string; nodeId: string }) {
  const { t } = useTranslation(['nodes', 'common'])
  const [type, setType] = useState<NodeEventType | 'all'>('all')
  const [range, setRange] = useState(() => rangeOfDays(6))
  const [page, setPage] = useState({ skip: 0, take: 10 })
  const [shown, setShown] = useState<Event | null>(null)
  const period = useMemo(() => ({ from: range.from.toISOString(), to: range.to.toISOString() }), [range])
  const query = useQuery({
    ...apiQuery('nodes.audit', {
      params: { teamSlug, nodeId },
      query: { ...page, ...period, filterEventType: type === 'all' ? undefined : type },
    }),
    placeholderData: keepPreviousData,
  })
  const first = () => setPage({ ...page, skip: 0 })
  const columns: Column<Event>[] = [
    { id: 'date', header: t('events.date'), cell: (event) => <RelativeTime at={event.createdAt} />, narrow: 'end' },
    {
      id: 'event',
      header: t('events.event'),
      cell: (event) => <span className="font-strong">{t(`event.${event.event}`)}</span>,
      narrow: 'lead',
    },
    {
      id: 'data',
      header: t('events.data'),
      cell: (event) => <span className="mono text-ink-2">{event.data ? dataText(event.data) : ''}</span>,
      grow: true,
    },
  ]
  return (
    <>
      <Filters
        trailing={
          <DateRange
            value={range}
            onChange={(next) => {
              setRange(next)
              first()
            }}
          />
        }
      >
        <Chips
          label={t('events.event')}
          value={type}
          onChange={(next) => {
            setType(next)
            first()
          }}
          options={[
            { value: 'all', label: t('common:all') },
            ...nodeEventTypes.map((value) => ({ value, label: t(`event.${value}`) })),
          ]}
        />
      </Filters>
      <QueryView
        query={query}
        skeleton={<SkeletonRows />}
        isEmpty={({ items }) => items.length === 0}
        empty={<EmptyState icon={ScrollText} title={t('events.emptyTitle')} text={t('events.emptyText')} />}
      >
        {({ items, total }) => (
          <DataTable
            label={t('section.events')}
            rows={items.map((event, index) => ({ ...event, key: `${event.createdAt}-${page.skip + index}` }))}
            columns={columns}
            rowKey={(event) => event.key}
            initialSort={null}
            actions={(event) => [
              {
                id: 'view',
                label: t('events.view'),
                icon: Braces,
                inline: true,
                disabledReason: !event.data && t('events.noData'),
                run: () => setShown(event),
              },
            ]}
            footer={<Pagination {...page} total={total} onChange={setPage} />}
          />
        )}
      </QueryView>
      <Dialog open={shown !== null} onClose={() => setShown(null)} title={shown ? t(`event.${shown.event}`) : ''}>
        <CodeBlock
          text={JSON.stringify(shown?.data, null, 2) ?? ''}
          label={t('events.data')}
          className="max-h-96 rounded-md border border-line"
        />
      </Dialog>
    </>
  )
}

const dataText = (data: Record<string, unknown>) =>
  Object.entries(data)
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
