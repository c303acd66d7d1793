import type { ResponseOf } from '@crux/contract'
import { Database } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { Pill } from '../../components/Tag.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

type Registry = ResponseOf<'registries.list'>[number]

export function useRegistryColumns(teamSlug: string): Column<Registry>[] {
  const { t } = useTranslation('registries')
  return [
    nameColumn(
      t('column.name'),
      (row) => links.registry(teamSlug, row.id),
      (row) => (row.icon ? <AnimalIcon name={row.icon} /> : <Database aria-hidden />),
    ),
    {
      id: 'type',
      header: t('column.type'),
      narrow: 'end',
      sort: (row) => row.type,
      cell: (row) => <Pill>{t(`type.${row.type}`)}</Pill>,
    },
    {
      id: 'url',
      header: t('column.url'),
      sort: (row) => row.imageUrlPrefix,
      cell: (row) => <code>{row.imageUrlPrefix || row.url}</code>,
    },
    descriptionColumn(t('column.description')),
  ]
}
