import type { Result } from '@crux/contract'
import { Database } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { AnimalIcon } from '../../components/AnimalIcon.tsx'
import { Tag } from '../../components/Tag.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../links.ts'
import type { Column } from '../../table/DataTable.tsx'

type Registry = Result<'registries.list'>[number]

export function useRegistryColumns(teamSlug: string): Column<Registry>[] {
  const { t } = useTranslation('registries')
  return [
    {
      id: 'name',
      header: t('column.name'),
      narrow: 'title',
      sort: (row) => row.name,
      cell: (row) => (
        <span className="inline-flex items-center gap-2">
          <span className="text-ink-3">{row.icon ? <AnimalIcon name={row.icon} /> : <Database aria-hidden />}</span>
          <TextLink {...links.registry(teamSlug, row.id)} strong>
            {row.name}
          </TextLink>
        </span>
      ),
    },
    {
      id: 'type',
      header: t('column.type'),
      narrow: 'end',
      sort: (row) => row.type,
      cell: (row) => <Tag>{t(`type.${row.type}`)}</Tag>,
    },
    {
      id: 'url',
      header: t('column.url'),
      sort: (row) => row.imageUrlPrefix,
      cell: (row) => <code>{row.imageUrlPrefix || row.url}</code>,
    },
    {
      id: 'description',
      header: t('column.description'),
      grow: true,
      cell: (row) => <span className="text-ink-2">{row.description}</span>,
    },
  ]
}
