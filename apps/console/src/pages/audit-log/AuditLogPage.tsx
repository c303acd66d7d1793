import { limits } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Bot, Download, ScrollText } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Avatar } from '../../components/Avatar.tsx'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { DateRange, rangeOfDays } from '../../components/DateRange.tsx'
import { Menu, MenuItem } from '../../components/Menu.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { Pill } from '../../components/Tag.tsx'
import { Tooltip } from '../../components/Tooltip.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { type AuditLogFilters, links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { timeColumn } from '../../table/named-columns.tsx'
import { PagedListPage } from '../../table/PagedListPage.tsx'
import { usePagedSearch } from '../../table/use-paged-search.ts'
import { EntriesPerDay } from './EntriesPerDay.tsx'
import { EntrySentence } from './EntrySentence.tsx'
import type { Entry } from './entry.ts'

const EntryDialog = lazyComponent(async () => (await import('./EntryDialog.tsx')).EntryDialog)

/** Today and the six days before. */
const daysBefore = 6

/** The actions and attempts of all members. Filters are in the address, so that a search can be shared. */
export function AuditLogPage() {
  const { t } = useTranslation(['audit', 'common'])
  const { teamSlug } = useParams({ from: '/app/$teamSlug/audit-log' })
  const search = useSearch({ from: '/app/$teamSlug/audit-log' })
  const navigate = useNavigate()
  const [shown, setShown] = useState<Entry | null>(null)
  const columns = useColumns(teamSlug)
  const days = rangeOfDays(daysBefore)
  const range = {
    from: search.from ? new Date(search.from) : days.from,
    to: search.to ? new Date(search.to) : days.to,
  }
  const params = { teamSlug }
  const wanted = {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    filter: search.filter,
    accepted: search.accepted,
  }
  const { page, goTo, filter } = usePagedSearch<AuditLogFilters>(search, 20, (next) => links.auditLog(teamSlug, next))
  const query = useQuery({
    ...apiQuery('audit-log.list', { params, query: { ...page, ...wanted } }),
    placeholderData: keepPreviousData,
  })
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  const perDay = useQuery({
    ...apiQuery('audit-log.days', { params, query: { ...wanted, timeZone } }),
    placeholderData: keepPreviousData,
  })
  const isFiltered = Boolean(search.filter || search.accepted)
  // With a search text, the server stops counting at a limit.
  const uncounted = Boolean(search.filter) && query.data?.total === limits.auditLogHits
  const exportAs = (format: 'csv' | 'ndjson') => {
    const given = Object.entries(wanted).filter((entry): entry is [string, string] => entry[1] !== undefined)
    location.assign(`/api/${teamSlug}/audit-log/export.${format}?${new URLSearchParams(given)}`)
  }

  return (
    <>
      <PagedListPage
        query={query}
        title={t('title')}
        subtitle={({ total }) => t(uncounted ? 'many' : 'sub', { count: total })}
        actions={
          <Menu trigger={<Button icon={Download}>{t('export')}</Button>}>
            <MenuItem onSelect={() => exportAs('csv')}>{t('csv')}</MenuItem>
            <MenuItem onSelect={() => exportAs('ndjson')}>{t('ndjson')}</MenuItem>
          </Menu>
        }
        filters={
          <>
            {' '}
            <Filters>
              <SearchBox
                label={t('filter')}
                value={search.filter ?? ''}
                onChange={(text) => filter({ filter: text || undefined })}
                delayMs={600}
              />
              <Chips
                label={t('outcome')}
                value={search.accepted ?? 'all'}
                onChange={(value) => filter({ accepted: value === 'all' ? undefined : value })}
                options={[
                  { value: 'all', label: t('common:all') },
                  { value: 'true', label: t('accepted') },
                  { value: 'false', label: t('refused') },
                ]}
              />
              <DateRange
                value={range}
                onChange={({ from, to }) => filter({ from: from.toISOString(), to: to.toISOString() })}
              />
            </Filters>
            <EntriesPerDay range={range} days={perDay.data} onPick={(day) => filter({ from: day.from, to: day.to })} />
          </>
        }
        page={page}
        goTo={goTo}
        empty={{ icon: ScrollText, title: t('empty.title'), text: t('empty.text') }}
        noMatches={isFiltered ? { text: t('empty.filtered') } : undefined}
        onReset={isFiltered || search.from ? () => void navigate(links.auditLog(teamSlug)) : undefined}
      >
        {(items, pagination) => (
          <DataTable
            label={t('title')}
            rows={items}
            columns={columns}
            rowKey={(row) => row.id}
            initialSort={null}
            tint={(row) => (row.accepted ? undefined : 'failed')}
            actions={(row) => [
              { id: 'show', label: t('show'), icon: ScrollText, inline: true, run: () => setShown(row) },
            ]}
            footer={pagination}
          />
        )}
      </PagedListPage>
      {shown && <EntryDialog entry={shown} onClose={() => setShown(null)} />}
    </>
  )
}

function useColumns(teamSlug: string): Column<Entry>[] {
  const { t } = useTranslation('audit')
  return [
    {
      id: 'who',
      header: t('column.who'),
      narrow: 'lead',
      cell: (entry) => (
        <Tooltip content={entry.user?.email || t(`actor.${entry.actorType}`)}>
          <span className="inline-flex items-center gap-2">
            {entry.actorType === 'user' ? (
              <Avatar name={entry.name} size="sm" />
            ) : (
              <span className="grid size-[20px] place-items-center rounded-full bg-sunken text-ink-2">
                <Bot aria-hidden className="size-3.5!" />
              </span>
            )}
            <span className="font-strong">{entry.name}</span>
          </span>
        </Tooltip>
      ),
    },
    {
      id: 'what',
      header: t('column.what'),
      narrow: 'title',
      grow: true,
      cell: (entry) => (
        <span className="flex min-w-0 items-center gap-2">
          <span className="min-w-0 wide:truncate max-md:wrap-anywhere">
            <EntrySentence teamSlug={teamSlug} entry={entry} />
          </span>
          {!entry.accepted && <Pill tone="failed">{t('refused')}</Pill>}
        </span>
      ),
    },
    timeColumn('when', t('column.when'), (entry) => entry.createdAt),
  ]
}
