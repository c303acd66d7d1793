import type { ConfigBundle } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

export function useBundleColumns(teamSlug: string): Column<ConfigBundle>[] {
  const { t } = useTranslation('bundles')
  return [
    nameColumn(t('column.name'), (row) => links.configBundle(teamSlug, row.id)),
    descriptionColumn(t('column.description')),
  ]
}
