import type { ConfigBundle } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { descriptionColumn, nameColumn } from '../../table/named-columns.tsx'

const BundleForm = lazyComponent(async () => (await import('../../forms/bundle-form.tsx')).BundleForm)

export function ConfigBundlesPage() {
  const { t } = useTranslation('bundles')
  const { slug } = useTeam()
  const navigate = useNavigate()
  const query = useQuery(apiQuery('config-bundles.list', { params: { teamSlug: slug } }))
  const columns: Column<ConfigBundle>[] = [
    nameColumn(t('column.name'), (row) => links.configBundle(slug, row.id)),
    descriptionColumn(t('column.description')),
  ]
  const denied = useDenied('config-bundles.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(bundles) => t('sub', { count: bundles.length })}
      add={{ label: t('add'), denied, form: (onClose) => <BundleForm teamSlug={slug} onClose={onClose} /> }}
      empty={{ icon: SlidersHorizontal, title: t('empty.title'), text: t('empty.text') }}
      search={t('filter')}
      searchText={(row) => [row.name, row.description]}
      columns={columns}
      actions={(row) => [
        {
          id: 'configuration',
          label: t('configuration'),
          icon: SlidersHorizontal,
          inline: true,
          run: () => void navigate(links.containerConfiguration(slug, row.configId)),
        },
      ]}
    />
  )
}
