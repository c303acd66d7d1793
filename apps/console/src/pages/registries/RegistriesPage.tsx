import { registryTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Database } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ListPage } from '../../table/ListPage.tsx'
import { useRegistryColumns } from './registry-columns.tsx'

const RegistryForm = lazyComponent(() => import('../../forms/registry-form.tsx').then((module) => module.RegistryForm))

export function RegistriesPage() {
  const { t } = useTranslation('registries')
  const team = useTeam()
  const query = useQuery(apiQuery('registries.list', { params: { teamSlug: team.slug } }))
  const columns = useRegistryColumns(team.slug)
  const denied = useDenied('registries.create')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(registries) => t('sub', { count: registries.length })}
      add={{
        label: t('add'),
        denied,
        form: (onClose) => <RegistryForm teamSlug={team.slug} onClose={onClose} />,
      }}
      empty={{ icon: Database, title: t('empty.title'), text: t('empty.text') }}
    >
      {(registries) => (
        <FilteredList
          rows={registries}
          search={t('filter')}
          searchText={(row) => [row.name, row.url, row.description]}
          choice={{
            label: t('types'),
            of: (row) => row.type,
            values: registryTypes,
            optionLabel: (value) => t(`type.${value}`),
          }}
        >
          {(rows) => <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />}
        </FilteredList>
      )}
    </ListPage>
  )
}
