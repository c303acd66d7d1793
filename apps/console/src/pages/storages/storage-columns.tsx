import type { Storage } from '@crux/contract'
import { HardDrive } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

export function useStorageColumns(teamSlug: string): Column<Storage>[] {
  const { t } = useTranslation('storages')
  return [
    nameColumn(
      t('column.name'),
      (row) => links.storage(teamSlug, row.id),
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
}
