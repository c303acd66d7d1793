import { projectTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Boxes, Plus } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { EmptyState } from '../../components/EmptyState.tsx'
import { later } from '../../components/later.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonCards, SkeletonRows } from '../../components/Skeletons.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { useViewMode } from '../../stores/view-mode.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ViewModeSwitch } from '../../table/ViewModeSwitch.tsx'
import { ProjectCards } from './ProjectCards.tsx'
import { useProjectColumns } from './project-columns.tsx'

const ProjectCreate = later(() => import('../../forms/project-create.tsx').then((module) => module.ProjectCreate))

export function ProjectsPage() {
  const { t } = useTranslation(['projects', 'common'])
  const team = useTeam()
  const query = useQuery(apiQuery('projects.list', { params: { teamSlug: team.slug } }))
  const columns = useProjectColumns(team.slug)
  const denied = useDenied('projects.create')
  const anchor = useAnchor('new')
  const [mode, setMode] = useViewMode('projects')

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
        skeleton={mode === 'tile' ? <SkeletonCards filters /> : <SkeletonRows filters />}
        empty={{
          when: (projects) => projects.length === 0,
          show: <EmptyState icon={Boxes} title={t('empty.title')} text={t('empty.text')} action={add} />,
        }}
      >
        {(projects) => (
          <FilteredList
            rows={projects}
            search={t('filter')}
            words={(row) => [row.name, row.description, row.type, row.audit.updatedAt]}
            choice={{
              label: t('type.label'),
              of: (row) => row.type,
              values: projectTypes,
              word: (value) => t(`type.${value}`),
            }}
            aside={<ViewModeSwitch value={mode} onChange={setMode} />}
          >
            {(rows) =>
              mode === 'tile' ? (
                <ProjectCards teamSlug={team.slug} projects={rows} />
              ) : (
                <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />
              )
            }
          </FilteredList>
        )}
      </QueryView>
      {anchor.open && !denied && <ProjectCreate teamSlug={team.slug} onClose={anchor.close} />}
    </>
  )
}
