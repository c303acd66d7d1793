import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { SlidersHorizontal } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ListPage } from '../../table/ListPage.tsx'
import { useBundleColumns } from './bundle-columns.tsx'

const BundleForm = lazyComponent(() => import('../../forms/bundle-form.tsx').then((module) => module.BundleForm))

export function ConfigBundlesPage() {
  const { t } = useTranslation('bundles')
  const team = useTeam()
  const navigate = useNavigate()
  const query = useQuery(apiQuery('config-bundles.list', { params: { teamSlug: team.slug } }))
  const columns = useBundleColumns(team.slug)
  const denied = useDenied('config-bundles.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(bundles) => bundles.length > 0 && t('sub', { count: bundles.length })}
      add={{
        label: t('add'),
        denied,
        form: (onClose) => <BundleForm teamSlug={team.slug} onClose={onClose} />,
      }}
      empty={{ icon: SlidersHorizontal, title: t('empty.title'), text: t('empty.text') }}
    >
      {(bundles) => (
        <FilteredList rows={bundles} search={t('filter')} searchText={(row) => [row.name, row.description]}>
          {(rows) => (
            <DataTable
              label={t('title')}
              rows={rows}
              columns={columns}
              rowKey={(row) => row.id}
              actions={(row) => [
                {
                  id: 'configuration',
                  label: t('configuration'),
                  icon: SlidersHorizontal,
                  inline: true,
                  run: () => void navigate(links.containerConfiguration(team.slug, row.configId)),
                },
              ]}
            />
          )}
        </FilteredList>
      )}
    </ListPage>
  )
}
