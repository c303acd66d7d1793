import { useQuery } from '@tanstack/react-query'
import { HardDrive, Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { later } from '../../components/later.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { useStorageColumns } from './storage-columns.tsx'

const StorageCreate = later(() => import('../../forms/storage-create.tsx').then((module) => module.StorageCreate))

export function StoragesPage() {
  const { t } = useTranslation(['storages', 'common'])
  const team = useTeam()
  const query = useQuery(apiQuery('storages.list', { params: { teamSlug: team.slug } }))
  const columns = useStorageColumns(team.slug)
  const denied = useDenied('storages.create')
  const anchor = useAnchor('new')

  const add = (
    <Button variant="main" icon={Plus} disabledReason={denied} onClick={anchor.show}>
      {t('add')}
    </Button>
  )
  return (
    <>
      <PageHead
        title={t('title')}
        sub={query.data ? t('sub', { count: query.data.length }) : '\u00a0'}
        tools={query.data?.length !== 0 && add}
      />
      <QueryView
        query={query}
        skeleton={<SkeletonRows filters />}
        empty={{
          when: (storages) => storages.length === 0,
          show: <EmptyState icon={HardDrive} title={t('empty.title')} text={t('empty.text')} action={add} />,
        }}
      >
        {(storages) => (
          <FilteredList rows={storages} search={t('filter')} words={(row) => [row.name, row.url, row.description]}>
            {(rows) => <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />}
          </FilteredList>
        )}
      </QueryView>
      {anchor.open && !denied && <StorageCreate teamSlug={team.slug} onClose={anchor.close} />}
    </>
  )
}
