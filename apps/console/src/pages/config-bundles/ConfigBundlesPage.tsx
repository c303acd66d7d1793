import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Plus, SlidersHorizontal } from 'lucide-react'
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
import { links } from '../../links.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { useBundleColumns } from './bundle-columns.tsx'

const BundleCreate = later(() => import('../../forms/bundle-create.tsx').then((module) => module.BundleCreate))

export function ConfigBundlesPage() {
  const { t } = useTranslation(['bundles', 'common'])
  const team = useTeam()
  const navigate = useNavigate()
  const query = useQuery(apiQuery('config-bundles.list', { params: { teamSlug: team.slug } }))
  const columns = useBundleColumns(team.slug)
  const denied = useDenied('config-bundles.create')
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
          when: (bundles) => bundles.length === 0,
          show: <EmptyState icon={SlidersHorizontal} title={t('empty.title')} text={t('empty.text')} action={add} />,
        }}
      >
        {(bundles) => (
          <FilteredList rows={bundles} search={t('filter')} words={(row) => [row.name, row.description]}>
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
      </QueryView>
      {anchor.open && !denied && <BundleCreate teamSlug={team.slug} onClose={anchor.close} />}
    </>
  )
}
