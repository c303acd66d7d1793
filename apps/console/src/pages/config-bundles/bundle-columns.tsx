import type { ConfigBundle } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../links.ts'
import type { Column } from '../../table/DataTable.tsx'

export function useBundleColumns(teamSlug: string): Column<ConfigBundle>[] {
  const { t } = useTranslation('bundles')
  return [
    {
      id: 'name',
      header: t('column.name'),
      narrow: 'title',
      sort: (row) => row.name,
      cell: (row) => (
        <TextLink {...links.configBundle(teamSlug, row.id)} strong>
          {row.name}
        </TextLink>
      ),
    },
    {
      id: 'description',
      header: t('column.description'),
      grow: true,
      cell: (row) => <span className="text-ink-2">{row.description}</span>,
    },
  ]
}
