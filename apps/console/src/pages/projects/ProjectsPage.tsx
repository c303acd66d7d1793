import { projectTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Boxes } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { SkeletonCards } from '../../components/Skeletons.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { useViewMode } from '../../stores/view-mode.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { FilteredList } from '../../table/FilteredList.tsx'
import { ListPage } from '../../table/ListPage.tsx'
import { ViewModeSwitch } from '../../table/ViewModeSwitch.tsx'
import { ProjectCards } from './ProjectCards.tsx'
import { useProjectColumns } from './project-columns.tsx'

const ProjectForm = lazyComponent(() => import('../../forms/project-form.tsx').then((module) => module.ProjectForm))

export function ProjectsPage() {
  const { t } = useTranslation('projects')
  const team = useTeam()
  const query = useQuery(apiQuery('projects.list', { params: { teamSlug: team.slug } }))
  const columns = useProjectColumns(team.slug)
  const denied = useDenied('projects.create')
  const [mode, setMode] = useViewMode('projects')
  return (
    <ListPage
      query={query}
      title={t('title')}
      subtitle={(projects) => t('sub', { count: projects.length })}
      add={{
        label: t('add'),
        denied,
        form: (onClose) => <ProjectForm teamSlug={team.slug} onClose={onClose} />,
      }}
      empty={{ icon: Boxes, title: t('empty.title'), text: t('empty.text') }}
      skeleton={mode === 'tile' ? <SkeletonCards filters /> : undefined}
    >
      {(projects) => (
        <FilteredList
          rows={projects}
          search={t('filter')}
          searchText={(row) => [row.name, row.description, row.type, row.audit.updatedAt]}
          choice={{
            label: t('type.label'),
            of: (row) => row.type,
            values: projectTypes,
            optionLabel: (value) => t(`type.${value}`),
          }}
          trailing={<ViewModeSwitch value={mode} onChange={setMode} />}
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
    </ListPage>
  )
}
