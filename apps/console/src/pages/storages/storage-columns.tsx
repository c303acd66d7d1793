import type { Storage } from '@crux/contract'
import { HardDrive } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../links.ts'
import type { Column } from '../../table/DataTable.tsx'

export function useStorageColumns(teamSlug: string): Column<Storage>[] {
  const { t } = useTranslation('storages')
  return [
    {
      id: 'name',
      header: t('column.name'),
      narrow: 'title',
      sort: (row) => row.name,
      cell: (row) => (
        <span className="inline-flex items-center gap-2">
          <span className="text-ink-3">{row.icon ? <AnimalIcon name={row.icon} /> : <HardDrive aria-hidden />}</span>
          <TextLink {...links.storage(teamSlug, row.id)} strong>
            {row.name}
          </TextLink>
        </span>
      ),
    },
    {
      id: 'url',
      header: t('column.url'),
      sort: (row) => row.url,
      cell: (row) => <code>{row.url}</code>,
    },
    {
      id: 'description',
      header: t('column.description'),
      grow: true,
      cell: (row) => <span className="text-ink-2">{row.description}</span>,
    },
  ]
}
