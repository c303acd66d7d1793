import type { ResponseOf } from '@crux/contract'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Navigate, useNavigate } from '@tanstack/react-router'
import { CircleCheckBig, CopyPlus, FileCode2, Pencil, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { useDenied, useTeam } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { ActionMenu } from '../../components/Menu.tsx'
import { PageHeader } from '../../components/PageHeader.tsx'
import { QueryView } from '../../components/QueryView.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { Pill } from '../../components/Tag.tsx'
import { lazyComponent } from '../../loading/lazy-component.tsx'
import { links } from '../../routing/links.ts'
import { useAnchor } from '../../routing/use-anchor.ts'
import { Changelog } from './Changelog.tsx'
import { DeployVersion } from './DeployVersion.tsx'
import { useExportAction } from './use-export-action.ts'
import { useReadOnlyReason } from './use-read-only-reason.ts'
import { useSetDefault } from './use-set-default.ts'
import { VersionSections } from './VersionSections.tsx'

const DeleteDialog = lazyComponent(async () => (await import('./DeleteDialog.tsx')).DeleteDialog)
const VersionForm = lazyComponent(async () => (await import('../../forms/version-form.tsx')).VersionForm)

const route = getRouteApi('/app/$teamSlug/projects/$projectId/versions/$versionId')

export function VersionPage() {
  const params = route.useParams()
  const project = useQuery(
    apiQuery('projects.get', { params: { teamSlug: params.teamSlug, projectId: params.projectId } }),
  )
  const version = useQuery(apiQuery('versions.get', { params }))
  return (
    <QueryView query={project} skeleton={<SkeletonPage />}>
      {(ofProject) =>
        ofProject.type === 'versionless' ? (
          // A versionless project shows its one version itself.
          <Navigate {...links.project(params.teamSlug, params.projectId)} replace />
        ) : (
          <QueryView query={version} skeleton={<SkeletonPage />}>
            {(ofVersion) => <VersionView project={ofProject} version={ofVersion} />}
          </QueryView>
        )
      }
    </QueryView>
  )
}

type VersionViewProps = { project: ResponseOf<'projects.get'>; version: ResponseOf<'versions.get'> }

function VersionView({ project, version }: VersionViewProps) {
  const { t } = useTranslation(['versions', 'projects', 'common'])
  const { section = 'images' } = route.useSearch()
  const { slug } = useTeam()
  const fixed = useReadOnlyReason(version)
  const navigate = useNavigate()
  const anchor = useAnchor('edit')
  const [increasing, setIncreasing] = useState(false)
  const [removing, setRemoving] = useState(false)
  const editDenied = useDenied('versions.update')
  const increaseDenied = useDenied('versions.increase')
  const importDenied = useDenied('versions.import')
  const setDefault = useSetDefault(slug, project.id)
  const ids = { teamSlug: slug, projectId: project.id, versionId: version.id }
  const exportAction = useExportAction(slug, ids)
  // Fetched when the dialog opens, because the running containers may have changed since the page was opened.
  const running = useQuery({ ...apiQuery('versions.running', { params: ids }), staleTime: 0, enabled: removing })
  const remove = useCall('versions.delete', {
    stale: [
      queryKey('projects.get'),
      queryKey('projects.list'),
      queryKey('dashboard.get'),
      queryKey('deployments.list'),
    ],
    done: t('deleted', { name: version.name }),
    onSuccess: () => navigate(links.project(slug, project.id)),
  })
  return (
    <>
      <PageHeader
        title={`${project.name} ${version.name}`}
        crumb={version.name}
        crumbs={[
          { label: t('projects:title'), link: links.projects(slug) },
          { label: project.name, link: links.project(slug, project.id) },
        ]}
        mark={
          <span className="inline-flex items-center gap-2">
            <Pill>{t(`projects:version.${version.type}`)}</Pill>
            {version.default && <Pill tone="accent">{t('projects:version.default')}</Pill>}
            {!version.mutable && <Pill>{t('readOnly')}</Pill>}
          </span>
        }
        subtitle={fixed}
        actions={
          <>
            <DeployVersion teamSlug={slug} project={project} version={version} />
            <Button
              icon={CopyPlus}
              disabledReason={increaseDenied ?? (version.increasable ? null : t('projects:version.notIncreasable'))}
              onClick={() => setIncreasing(true)}
            >
              {t('projects:version.increase', { name: version.name })}
            </Button>
            <Button icon={Pencil} disabledReason={editDenied ?? fixed} onClick={anchor.show}>
              {t('edit')}
            </Button>
            <ActionMenu
              actions={[
                exportAction,
                {
                  id: 'default',
                  icon: CircleCheckBig,
                  label: t('projects:version.setDefault'),
                  disabledReason: setDefault.denied ?? (version.default ? t('projects:version.isDefault') : null),
                  run: () => void setDefault.ask(version),
                },
                {
                  id: 'import',
                  icon: FileCode2,
                  label: t('projects:details.importCompose'),
                  disabledReason: importDenied,
                  run: () => void navigate(links.composer({ project: project.id })),
                },
                {
                  id: 'delete',
                  icon: Trash2,
                  label: t('delete'),
                  danger: true,
                  disabledReason: remove.denied ?? (version.deletable ? null : t('notDeletable')),
                  run: () => setRemoving(true),
                },
              ]}
            />
          </>
        }
      />
      <Changelog text={version.changelog} />
      <VersionSections teamSlug={slug} project={project} version={version} section={section} />
      {anchor.open && !editDenied && version.mutable && (
        <VersionForm teamSlug={slug} projectId={project.id} version={version} onClose={anchor.close} />
      )}
      {increasing && (
        <VersionForm
          teamSlug={slug}
          projectId={project.id}
          version={version}
          increase
          onClose={() => setIncreasing(false)}
        />
      )}
      {removing && (
        <DeleteDialog
          teamSlug={slug}
          title={t('deleteTitle', { name: version.name })}
          text={t('deleteText')}
          name={version.name}
          action={t('delete')}
          running={running}
          hasVersions
          busy={remove.isPending}
          denied={remove.denied}
          onClose={() => setRemoving(false)}
          onDelete={(containers) =>
            remove.mutate(
              { params: ids, query: { containers: containers ? 'true' : 'false' } },
              { onError: () => void running.refetch() },
            )
          }
        />
      )}
    </>
  )
}
