import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { FileCode2, GitBranchPlus, Pencil, Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage, SkeletonRows } from '../../components/Skeletons.tsx'
import { Pill } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { Changelog } from '../versions/Changelog.tsx'
import { DeployVersion } from '../versions/DeployVersion.tsx'
import { useExportAction } from '../versions/use-export-action.ts'
import { VersionSections } from '../versions/VersionSections.tsx'
import { VersionList } from './VersionList.tsx'

const DeleteDialog = lazyComponent(async () => (await import('../versions/DeleteDialog.tsx')).DeleteDialog)
const ProjectForm = lazyComponent(async () => (await import('../../forms/project-form.tsx')).ProjectForm)
const VersionForm = lazyComponent(async () => (await import('../../forms/version-form.tsx')).VersionForm)

const route = getRouteApi('/app/$teamSlug/projects/$projectId')
type Project = ResponseOf<'projects.get'>

/** A versioned project lists its versions; a versionless one shows images and deployments of its one version. */
export function ProjectPage() {
  const params = route.useParams()
  const query = useQuery(apiQuery('projects.get', { params }))
  return (
    <QueryView query={query} skeleton={<SkeletonPage />}>
      {(project) => <ProjectView teamSlug={params.teamSlug} project={project} />}
    </QueryView>
  )
}

function ProjectView({ teamSlug, project }: { teamSlug: string; project: Project }) {
  const { t } = useTranslation(['projects', 'common'])
  const edit = useAnchor('edit')
  const create = useAnchor('new')
  const editDenied = useDenied('projects.update')
  const createDenied = useDenied('versions.create')
  const importDenied = useDenied('versions.import')
  const navigate = useNavigate()
  const [removing, setRemoving] = useState(false)
  const { convert, remove } = useProjectChanges(teamSlug, project)
  const versioned = project.type === 'versioned'
  const only = project.versions[0]
  const exportAction = useExportAction(teamSlug, { projectId: project.id, versionId: only?.id ?? '' })
  return (
    <>
      <PageHeader
        title={project.name}
        crumbs={[{ label: t('title'), link: links.projects(teamSlug) }]}
        mark={<Pill>{t(`type.${project.type}`)}</Pill>}
        subtitle={project.description}
        actions={
          <>
            {only && !versioned && <DeployOnly teamSlug={teamSlug} project={project} versionId={only.id} />}
            <Button icon={Pencil} disabledReason={editDenied} onClick={edit.show}>
              {t('common:edit')}
            </Button>
            {/* An empty project has the button where its versions will be. */}
            {versioned && project.versions.length > 0 && (
              <Button icon={Plus} variant="main" disabledReason={createDenied} onClick={create.show}>
                {t('details.addVersion')}
              </Button>
            )}
            <ActionMenu
              actions={[
                ...(versioned
                  ? [
                      {
                        id: 'import',
                        icon: FileCode2,
                        label: t('details.importCompose'),
                        disabledReason: importDenied,
                        run: () => void navigate(links.composer({ project: project.id })),
                      },
                    ]
                  : [
                      ...(only ? [exportAction] : []),
                      {
                        id: 'convert',
                        icon: GitBranchPlus,
                        label: t('details.convert'),
                        disabledReason: convert.denied,
                        run: () => void convert.ask(),
                      },
                    ]),
                {
                  id: 'delete',
                  icon: Trash2,
                  label: t('details.delete'),
                  danger: true,
                  disabledReason: remove.denied ?? (project.deletable ? null : t('details.inProgress')),
                  run: () => setRemoving(true),
                },
              ]}
            />
          </>
        }
      />
      {versioned ? (
        <VersionList teamSlug={teamSlug} project={project} onCreate={create.show} />
      ) : (
        only && <OnlyVersion teamSlug={teamSlug} project={project} versionId={only.id} />
      )}
      {edit.open && !editDenied && <ProjectForm teamSlug={teamSlug} project={project} onClose={edit.close} />}
      {create.open && !createDenied && versioned && (
        <VersionForm teamSlug={teamSlug} projectId={project.id} onClose={create.close} />
      )}
      {removing && (
        <ProjectDelete teamSlug={teamSlug} project={project} remove={remove} onClose={() => setRemoving(false)} />
      )}
    </>
  )
}

type DeleteProps = {
  teamSlug: string
  project: Project
  remove: ReturnType<typeof useProjectChanges>['remove']
  onClose: () => void
}

function ProjectDelete({ teamSlug, project, remove, onClose }: DeleteProps) {
  const { t } = useTranslation('projects')
  const params = { teamSlug, projectId: project.id }
  // Fetched again, because the running containers may have changed since the page was opened.
  const running = useQuery({ ...apiQuery('projects.running', { params }), staleTime: 0 })
  return (
    <DeleteDialog
      teamSlug={teamSlug}
      title={t('details.deleteTitle', { name: project.name })}
      text={t('details.deleteText', { count: project.versions.length })}
      name={project.name}
      action={t('details.delete')}
      running={running}
      hasVersions={project.type === 'versioned'}
      busy={remove.isPending}
      denied={remove.denied}
      onClose={onClose}
      onDelete={(containers) =>
        remove.mutate(
          { params, query: { containers: containers ? 'true' : 'false' } },
          { onError: () => void running.refetch() },
        )
      }
    />
  )
}

/** The deploy button of a versionless project; hidden until its images are loaded. */
function DeployOnly({ teamSlug, project, versionId }: { teamSlug: string; project: Project; versionId: string }) {
  const { data } = useQuery(apiQuery('versions.get', { params: { teamSlug, projectId: project.id, versionId } }))
  return data && <DeployVersion teamSlug={teamSlug} project={project} version={data} />
}

function OnlyVersion({ teamSlug, project, versionId }: { teamSlug: string; project: Project; versionId: string }) {
  const { section = 'images' } = route.useSearch()
  const query = useQuery(apiQuery('versions.get', { params: { teamSlug, projectId: project.id, versionId } }))
  return (
    <QueryView query={query} skeleton={<SkeletonRows />}>
      {(version) => (
        <>
          <Changelog text={version.changelog} />
          <VersionSections teamSlug={teamSlug} project={project} version={version} section={section} />
        </>
      )}
    </QueryView>
  )
}

function useProjectChanges(teamSlug: string, project: Project) {
  const { t } = useTranslation('projects')
  const { id: projectId, name } = project
  const convert = useCall('projects.convert', {
    stale: [queryKey('projects.get'), queryKey('projects.list'), queryKey('versions.get')],
    done: t('details.converted', { name }),
  })
  const navigate = useNavigate()
  const remove = useCall('projects.delete', {
    stale: [queryKey('projects.list'), queryKey('dashboard.get'), queryKey('deployments.list')],
    done: t('details.deleted', { name }),
    onSuccess: () => navigate(links.projects(teamSlug)),
  })
  return {
    convert: {
      denied: convert.denied,
      ask: () => {
        const question = {
          title: t('details.convertTitle', { name }),
          text: t('details.convertText'),
          action: t('details.convert'),
        }
        return convert.ask(question, { params: { teamSlug, projectId } })
      },
    },
    remove,
  }
}
