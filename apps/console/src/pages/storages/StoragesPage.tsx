import { useQuery } from '@tanstack/react-query'
import { HardDrive } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ListPage } from '../../table/ListPage.tsx'
import { useStorageColumns } from './storage-columns.tsx'

const StorageForm = lazyComponent(() => import('../../forms/storage-form.tsx').then((module) => module.StorageForm))

export function StoragesPage() {
  const { t } = useTranslation('storages')
  const team = useTeam()
  const query = useQuery(apiQuery('storages.list', { params: { teamSlug: team.slug } }))
  const columns = useStorageColumns(team.slug)
  const denied = useDenied('storages.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(storages) => t('sub', { count: storages.length })}
      add={{
        label: t('add'),
        denied,
        form: (onClose) => <StorageForm teamSlug={team.slug} onClose={onClose} />,
      }}
      empty={{ icon: HardDrive, title: t('empty.title'), text: t('empty.text') }}
    >
      {(storages) => (
        <FilteredList rows={storages} search={t('filter')} searchText={(row) => [row.name, row.url, row.description]}>
          {(rows) => <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />}
        </FilteredList>
      )}
    </ListPage>
  )
}
