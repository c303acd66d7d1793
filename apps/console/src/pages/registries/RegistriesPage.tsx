import { registryTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Database, Plus } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { later } from '../../components/later.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { SkeletonRows } from '../../components/Skeletons.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NothingFits } from '../../table/NothingFits.tsx'
import { useRegistryColumns } from './registry-columns.tsx'

const RegistryCreate = later(() => import('../../forms/registry-create.tsx').then((module) => module.RegistryCreate))

export function RegistriesPage() {
  const { t } = useTranslation(['registries', 'common'])
  const team = useTeam()
  const query = useQuery(apiQuery('registries.list', { params: { teamSlug: team.slug } }))
  const columns = useRegistryColumns(team.slug)
  const denied = useDenied('registries.edit')
  const anchor = useAnchor('new')
  const [text, setText] = useState('')
  const [type, setType] = useState<'all' | (typeof registryTypes)[number]>('all')

  const add = (
    <Button variant="main" icon={Plus} disabledReason={denied} onClick={anchor.show}>
      {t('add')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('title')} sub={query.data ? t('sub', { count: query.data.length }) : '\u00a0'} tools={add} />
      <QueryView
        query={query}
        skeleton={<SkeletonRows filters />}
        empty={{
          when: (registries) => registries.length === 0,
          show: <EmptyState icon={Database} title={t('empty.title')} text={t('empty.text')} action={add} />,
        }}
      >
        {(registries) => {
          const types = registryTypes.filter((option) => registries.some((registry) => registry.type === option))
          const rows = filterRows(registries, text, (row) => [row.name, row.url, row.description]).filter(
            (row) => type === 'all' || row.type === type,
          )
          return (
            <>
              <Filters>
                <SearchBox value={text} onChange={setText} label={t('filter')} />
                {types.length > 1 && (
                  <Chips
                    label={t('types')}
                    value={type}
                    onChange={setType}
                    options={[
                      { value: 'all', label: t('common:all'), count: registries.length },
                      ...types.map((value) => ({ value, label: t(`type.${value}`) })),
                    ]}
                  />
                )}
              </Filters>
              {rows.length === 0 ? (
                <NothingFits
                  total={registries.length}
                  onReset={() => {
                    setText('')
                    setType('all')
                  }}
                />
              ) : (
                <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />
              )}
            </>
          )
        }}
      </QueryView>
      {anchor.open && !denied && <RegistryCreate teamSlug={team.slug} onClose={anchor.close} />}
    </>
  )
}
