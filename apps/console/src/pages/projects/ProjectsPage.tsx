import type { projectTypes } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Boxes, Plus } from 'lucide-react'
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
import { SkeletonCards, SkeletonRows } from '../../components/Skeletons.tsx'
import { useAnchor } from '../../forms/use-anchor.ts'
import { useViewMode } from '../../stores/view-mode.ts'
import { DataTable } from '../../table/DataTable.tsx'
import { Filters } from '../../table/Filters.tsx'
import { filterRows } from '../../table/filter-rows.ts'
import { NothingFits } from '../../table/NothingFits.tsx'
import { ViewModeSwitch } from '../../table/ViewModeSwitch.tsx'
import { ProjectCards } from './ProjectCards.tsx'
import { useProjectColumns } from './project-columns.tsx'

const ProjectCreate = later(() => import('../../forms/project-create.tsx').then((module) => module.ProjectCreate))

export function ProjectsPage() {
  const { t } = useTranslation(['projects', 'common'])
  const team = useTeam()
  const query = useQuery(apiQuery('projects.list', { params: { teamSlug: team.slug } }))
  const columns = useProjectColumns(team.slug)
  const denied = useDenied('projects.edit')
  const anchor = useAnchor('new')
  const [mode, setMode] = useViewMode('projects')
  const [text, setText] = useState('')
  const [type, setType] = useState<'all' | (typeof projectTypes)[number]>('all')

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
        skeleton={mode === 'tile' ? <SkeletonCards filters /> : <SkeletonRows filters />}
        empty={{
          when: (projects) => projects.length === 0,
          show: <EmptyState icon={Boxes} title={t('empty.title')} text={t('empty.text')} action={add} />,
        }}
      >
        {(projects) => {
          const rows = filterRows(projects, text, (row) => [
            row.name,
            row.description,
            row.type,
            row.audit.updatedAt,
          ]).filter((row) => type === 'all' || row.type === type)
          return (
            <>
              <Filters aside={<ViewModeSwitch value={mode} onChange={setMode} />}>
                <SearchBox value={text} onChange={setText} label={t('filter')} />
                <Chips
                  label={t('type.label')}
                  value={type}
                  onChange={setType}
                  options={[
                    { value: 'all', label: t('common:all'), count: projects.length },
                    { value: 'versioned', label: t('type.versioned') },
                    { value: 'versionless', label: t('type.versionless') },
                  ]}
                />
              </Filters>
              {rows.length === 0 ? (
                <NothingFits
                  total={projects.length}
                  onReset={() => {
                    setText('')
                    setType('all')
                  }}
                />
              ) : mode === 'tile' ? (
                <ProjectCards teamSlug={team.slug} projects={rows} />
              ) : (
                <DataTable label={t('title')} rows={rows} columns={columns} rowKey={(row) => row.id} />
              )}
            </>
          )
        }}
      </QueryView>
      {anchor.open && !denied && <ProjectCreate teamSlug={team.slug} onClose={anchor.close} />}
    </>
  )
}
