import type { Storage } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { HardDrive } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

const StorageForm = lazyComponent(async () => (await import('../../forms/storage-form.tsx')).StorageForm)

export function StoragesPage() {
  const { t } = useTranslation('storages')
  const { slug } = useTeam()
  const query = useQuery(apiQuery('storages.list', { params: { teamSlug: slug } }))
  const columns: Column<Storage>[] = [
    nameColumn(
      t('column.name'),
      (row) => links.storage(slug, row.id),
      (row) => (row.icon ? <AnimalIcon name={row.icon} /> : <HardDrive aria-hidden />),
    ),
    {
      id: 'url',
      header: t('column.url'),
      sort: (row) => row.url,
      cell: (row) => <code>{row.url}</code>,
    },
    descriptionColumn(t('column.description')),
  ]
  const denied = useDenied('storages.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(storages) => t('sub', { count: storages.length })}
      add={{ label: t('add'), denied, form: (onClose) => <StorageForm teamSlug={slug} onClose={onClose} /> }}
      empty={{ icon: HardDrive, title: t('empty.title'), text: t('empty.text') }}
      search={t('filter')}
      searchText={(row) => [row.name, row.url, row.description]}
      columns={columns}
    />
  )
}
