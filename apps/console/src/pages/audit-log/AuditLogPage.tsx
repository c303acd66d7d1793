import { limits } from '@crux/contract'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { Download, ScrollText } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { DateRange, rangeOfDays } from '../../components/DateRange.tsx'
import { Menu, MenuItem } from '../../components/Menu.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { type AuditLogFilters, links } from '../../routing/links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { PagedListPage } from '../../table/PagedListPage.tsx'
import { usePagedSearch } from '../../table/use-paged-search.ts'
import { DayBars } from './DayBars.tsx'
import type { Entry } from './entry.ts'
import { useEntryColumns } from './use-entry-columns.tsx'

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
  const columns = useEntryColumns(teamSlug)
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
            <DayBars range={range} days={perDay.data} onPick={(day) => filter({ from: day.from, to: day.to })} />
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
