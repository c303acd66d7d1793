import type { ResponseOf } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { History, Snowflake } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { State } from '../../components/State.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import { Pagination } from '../../table/Pagination.tsx'
import { usePagedSearch } from '../../table/use-paged-search.ts'

const route = getRouteApi('/app/$teamSlug/packages/$packageId/environments/$environmentId')
type Promotion = ResponseOf<'packages.promotions'>['items'][number]
type Props = { teamSlug: string; packageId: string; environmentId: string }

/** Who promoted what to the environment, when, from where, with which result; the server pages it. */
export function PromotionHistory({ teamSlug, packageId, environmentId }: Props) {
  const { t } = useTranslation('packages')
  const params = { teamSlug, packageId, environmentId }
  const { page, goTo } = usePagedSearch(route.useSearch(), 10, (search) =>
    links.packageEnvironment(teamSlug, packageId, environmentId, search),
  )
  const query = useQuery({
    ...apiQuery('packages.promotions', { params, query: page }),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.some(({ status }) => status === 'in-progress') ? 1_500 : 15_000),
  })
  const columns = useColumns(params)
  return (
    <QueryView
      query={query}
      skeleton={<SkeletonRows rows={4} />}
      isEmpty={({ total }) => total === 0}
      empty={<EmptyState icon={History} title={t('history.emptyTitle')} text={t('history.emptyText')} />}
    >
      {({ items, total }) => (
        <Box title={t('history.title')} trailing={t('history.sub', { count: total })}>
          <DataTable
            flush
            label={t('history.title')}
            rows={items}
            columns={columns}
            rowKey={({ id }) => id}
            initialSort={null}
            footer={(total > page.take || page.skip > 0) && <Pagination {...page} total={total} onChange={goTo} />}
          />
        </Box>
      )}
    </QueryView>
  )
}

function useColumns({ teamSlug, packageId }: Omit<Props, 'environmentId'>): Column<Promotion>[] {
  const { t } = useTranslation('packages')
  return [
    {
      id: 'result',
      header: t('history.result'),
      narrow: 'lead',
      cell: ({ status, reason }) => <State kind="promotion" value={status} reason={reason} />,
    },
    {
      id: 'version',
      header: t('history.version'),
      narrow: 'title',
      cell: (row) => <PromotedVersion teamSlug={teamSlug} promotion={row} />,
    },
    {
      id: 'from',
      header: t('history.from'),
      narrow: 'none',
      cell: ({ from }) =>
        from?.id ? (
          <TextLink {...links.packageEnvironment(teamSlug, packageId, from.id)}>{from.name}</TextLink>
        ) : (
          <span className="text-ink-3" data-no-value={!from || undefined}>
            {from?.name ?? '-'}
          </span>
        ),
    },
    {
      id: 'from named',
      header: null,
      only: 'narrow',
      narrow: 'detail',
      cell: ({ from }) => from && t('history.fromNamed', { name: from.name }),
    },
    {
      id: 'note',
      header: t('history.note'),
      grow: true,
      narrow: 'detail',
      cell: (row) => <Notes promotion={row} />,
    },
    { id: 'by', header: t('history.by'), narrow: 'detail', cell: ({ createdBy }) => createdBy.name },
    timeColumn('when', t('history.when'), ({ createdAt }) => createdAt),
  ]
}

/** It leads to its release while there is one. */
function PromotedVersion({ teamSlug, promotion }: { teamSlug: string; promotion: Promotion }) {
  const { project, version, deploymentId, releaseNumber } = promotion
  const name = (
    <>
      <span className="truncate">{project.name}</span> <span className="mono">{version.name}</span>
    </>
  )
  const className = 'inline-flex max-w-full items-center gap-1.5'
  if (!deploymentId) return <span className={`${className} font-strong`}>{name}</span>
  return (
    <TextLink {...links.deploymentProgress(teamSlug, deploymentId, releaseNumber)} strong className={className}>
      {name}
    </TextLink>
  )
}

/** The reason of a failure comes first: it is what one looks for. */
function Notes({ promotion: { status, reason, note, overrideFreeze } }: { promotion: Promotion }) {
  const { t } = useTranslation('packages')
  const failure = status === 'failed' || status === 'unknown' ? reason : null
  const override = overrideFreeze ? t('history.override', { reason: overrideFreeze }) : null
  const whole = [failure, note, override].filter(Boolean).join(' · ')
  if (!whole) return null
  return (
    <span title={whole} className="text-ink-2 max-md:wrap-anywhere">
      {failure && <span className="text-failed">{failure} </span>}
      {note}{' '}
      {override && (
        <span className="text-past">
          <Snowflake aria-hidden className="inline size-3.5! align-[-2px]" /> {override}
        </span>
      )}
    </span>
  )
}
