import { projectTypes, type ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { Boxes, Play } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { SkeletonCards } from '../../components/Skeletons.tsx'
import { Pill } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { useViewMode } from '../../stores/view-mode.ts'
import type { Column } from '../../table/columns.ts'
import { ListPage } from '../../table/ListPage.tsx'
import { descriptionColumn, nameColumn, numberColumn, timeColumn } from '../../table/named-columns.tsx'
import { ViewModeSwitch } from '../../table/ViewModeSwitch.tsx'
import { ProjectCards } from './ProjectCards.tsx'

const ProjectForm = lazyComponent(async () => (await import('../../forms/project-form.tsx')).ProjectForm)

const RunImage = lazyComponent(async () => (await import('../../forms/run-image.tsx')).RunImage)

export function ProjectsPage() {
  const { t } = useTranslation(['projects', 'run'])
  const { slug } = useTeam()
  const query = useQuery(apiQuery('projects.list', { params: { teamSlug: slug } }))
  const columns: Column<ResponseOf<'projects.list'>[number]>[] = [
    nameColumn(t('column.name'), (row) => links.project(slug, row.id)),
    {
      id: 'type',
      header: t('column.type'),
      narrow: 'lead',
      sort: (row) => row.type,
      cell: (row) => <Pill>{t(`type.${row.type}`)}</Pill>,
    },
    numberColumn('versions', t('column.versions'), (row) => row.versionCount),
    descriptionColumn(t('column.description')),
    timeColumn('updated', t('column.updated'), (row) => row.audit.updatedAt),
  ]
  const denied = useDenied('projects.create')
  const runDenied = useDenied('projects.run')
  const run = useAnchor('run')
  const [mode, setMode] = useViewMode('projects')
  const isTiled = mode === 'tile'
  return (
    <>
      <ListPage
        query={query}
        title={t('title')}
        subtitle={(projects) => t('sub', { count: projects.length })}
        add={{ label: t('add'), denied, form: (onClose) => <ProjectForm teamSlug={slug} onClose={onClose} /> }}
        more={
          <Button icon={Play} disabledReason={runDenied} onClick={run.show}>
            {t('run:open')}
          </Button>
        }
        empty={{ icon: Boxes, title: t('empty.title'), text: t('empty.text') }}
        skeleton={isTiled ? <SkeletonCards filters /> : undefined}
        search={t('filter')}
        searchText={(row) => [row.name, row.description, row.type, row.audit.updatedAt]}
        choice={{
          label: t('type.label'),
          of: (row) => row.type,
          values: projectTypes,
          optionLabel: (value) => t(`type.${value}`),
        }}
        trailing={<ViewModeSwitch value={mode} onChange={setMode} />}
        columns={columns}
        cards={isTiled ? (projects) => <ProjectCards teamSlug={slug} projects={projects} /> : undefined}
      />
      {run.open && !runDenied && <RunImage teamSlug={slug} onClose={run.close} />}
    </>
  )
}
