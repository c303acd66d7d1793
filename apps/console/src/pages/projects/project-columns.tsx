import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { Pill } from '../../components/Tag.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

type Project = ResponseOf<'projects.list'>[number]

export function useProjectColumns(teamSlug: string): Column<Project>[] {
  const { t } = useTranslation('projects')
  return [
    nameColumn(t('column.name'), (row) => links.project(teamSlug, row.id)),
    {
      id: 'type',
      header: t('column.type'),
      narrow: 'lead',
      sort: (row) => row.type,
      cell: (row) => <Pill>{t(`type.${row.type}`)}</Pill>,
    },
    {
      id: 'versions',
      header: t('column.versions'),
      align: 'right',
      narrow: 'none',
      sort: (row) => row.versionCount,
      cell: (row) => row.versionCount,
    },
    descriptionColumn(t('column.description')),
    {
      id: 'updated',
      header: t('column.updated'),
      align: 'right',
      narrow: 'end',
      sort: (row) => row.audit.updatedAt,
      cell: (row) => <RelativeTime at={row.audit.updatedAt} />,
    },
  ]
}
