import { registryTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Database, Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { later } from '../../components/later.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { useRegistryColumns } from './registry-columns.tsx'

const RegistryCreate = later(() => import('../../forms/registry-create.tsx').then((module) => module.RegistryCreate))

export function RegistriesPage() {
  const { t } = useTranslation(['registries', 'common'])
  const team = useTeam()
  const query = useQuery(apiQuery('registries.list', { params: { teamSlug: team.slug } }))
  const columns = useRegistryColumns(team.slug)
  const denied = useDenied('registries.create')
  const anchor = useAnchor('new')

  const add = (
    <Button variant="main" icon={Plus} disabledReason={denied} onClick={anchor.show}>
      {t('add')}
    </Button>
  )
  return (
    <>
      <PageHead
        title={t('title')}
        sub={query.data ? t('sub', { count: query.data.length }) : '\u00a0'}
        tools={query.data?.length !== 0 && add}
      />
      <QueryView
        query={query}
        skeleton={<SkeletonRows filters />}
        empty={{
          when: (registries) => registries.length === 0,
          show: <EmptyState icon={Database} title={t('empty.title')} text={t('empty.text')} action={add} />,
        }}
      >
        {(registries) => (
          <FilteredList
            rows={registries}
            search={t('filter')}
            words={(row) => [row.name, row.url, row.description]}
            choice={{
              label: t('types'),
              of: (row) => row.type,
              values: registryTypes,
              word: (value) => t(`type.${value}`),
            }}
          >
            {(rows) => <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />}
          </FilteredList>
        )}
      </QueryView>
      {anchor.open && !denied && <RegistryCreate teamSlug={team.slug} onClose={anchor.close} />}
    </>
  )
}
