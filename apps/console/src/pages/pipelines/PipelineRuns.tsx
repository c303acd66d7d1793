import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Play, ReceiptText } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Box } from '../../components/Box.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { RunBars } from './RunBars.tsx'
import { RunDuration } from './RunDuration.tsx'
import { RunStarter } from './RunStarter.tsx'
import { firstRuns, type PipelineParams, type Run, runsQuery } from './run-queries.ts'
import { ServiceLink } from './ServiceLink.tsx'

const RunDialog = lazyComponent(async () => (await import('./RunDialog.tsx')).RunDialog)

/** The runs of a pipeline, newest first: a plot of the last ones, and the list in pages of the server. */
export function PipelineRuns({ params }: { params: PipelineParams }) {
  const { t } = useTranslation('pipelines')
  const [page, setPage] = useState(firstRuns)
  const [shown, setShown] = useState<Run | null>(null)
  const query = useQuery({ ...runsQuery(params, page), placeholderData: keepPreviousData })
  const latest = useQuery(runsQuery(params))
  const columns = useColumns()
  const total = query.isPlaceholderData ? undefined : query.data?.total
  const isBehind = total !== undefined && page.skip >= total && page.skip > 0
  useEffect(() => {
    if (isBehind) setPage((current) => ({ ...current, skip: 0 }))
  }, [isBehind])
  // The dialog follows the state of its run.
  const current =
    shown && [...(query.data?.items ?? []), ...(latest.data?.items ?? [])].find(({ id }) => id === shown.id)
  return (
    <>
      <QueryView
        query={query}
        skeleton={<SkeletonRows rows={5} />}
        isEmpty={({ total }) => total === 0}
        empty={<EmptyState icon={Play} title={t('runs.empty')} text={t('runs.emptyText')} />}
      >
        {({ items, total }) => (
          <Box title={t('runs.title')} trailing={total}>
            <RunBars runs={latest.data?.items ?? []} onPick={setShown} />
            <DataTable
              flush
              label={t('runs.title')}
              rows={items}
              columns={columns}
              rowKey={(run) => run.id}
              initialSort={null}
              tint={(run) => (run.status === 'failed' ? 'failed' : undefined)}
              actions={(run) => [
                { id: 'show', label: t('runs.show'), icon: ReceiptText, inline: true, run: () => setShown(run) },
              ]}
              footer={total > items.length && <Pagination {...page} total={total} onChange={setPage} />}
            />
          </Box>
        )}
      </QueryView>
      {shown && <RunDialog run={current ?? shown} onClose={() => setShown(null)} />}
    </>
  )
}

function useColumns(): Column<Run>[] {
  const { t } = useTranslation('pipelines')
  return [
    {
      id: 'status',
      header: t('column.status'),
      narrow: 'lead',
      cell: (run) => <State kind="pipeline" value={run.status} reason={run.reason} />,
    },
    {
      id: 'by',
      header: t('column.startedBy'),
      narrow: 'title',
      cell: (run) => <RunStarter run={run} />,
    },
    {
      id: 'run',
      header: t('column.run'),
      cell: ({ externalId, url }) =>
        externalId || url ? (
          <ServiceLink url={url}>{externalId ? t('runs.number', { number: externalId }) : t('runs.open')}</ServiceLink>
        ) : (
          <span data-no-value className="text-ink-3">
            -
          </span>
        ),
    },
    {
      id: 'reason',
      header: t('column.reason'),
      grow: true,
      cell: ({ reason }) => reason && <span className="text-ink-2 max-md:wrap-anywhere">{reason}</span>,
    },
    {
      id: 'duration',
      header: t('column.duration'),
      align: 'right',
      cell: (run) => <RunDuration run={run} />,
    },
    timeColumn('created', t('column.created'), (run) => run.startedAt),
  ]
}
