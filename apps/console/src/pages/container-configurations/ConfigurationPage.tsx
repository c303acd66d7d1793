import type { Result } from '@crux/contract'
import { defaultContainerName } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { Lock, Rocket } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useEditors } from '../../api/editors.ts'
import { isStatus } from '../../api/errors.ts'
import { useDenied } from '../../api/me.ts'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { ErrorState } from '../../components/ErrorState.tsx'
import { NotFound } from '../../components/NotFound.tsx'
import { PageHead } from '../../components/PageHead.tsx'
import { SaveIndicator } from '../../components/SaveIndicator.tsx'
import { SkeletonPage } from '../../components/Skeletons.tsx'
import { links } from '../../links.ts'
import type { Crumb } from '../../stores/crumbs.ts'
import { BeforeDeploy } from './BeforeDeploy.tsx'
import { ConfigFormProvider } from './config-context.ts'
import { JsonTab } from './JsonTab.tsx'
import { fieldsOf } from './open-draft.ts'
import { SettingsForm } from './SettingsForm.tsx'
import { useConfigDraft } from './use-config-draft.ts'

type Config = Result<'container-configurations.get'>
type Relations = Result<'container-configurations.relations'>

export function ConfigurationPage() {
  const params = useParams({ from: '/app/$teamSlug/container-configurations/$configId' })
  const config = useQuery(apiQuery('container-configurations.get', { params }))
  const relations = useQuery(apiQuery('container-configurations.relations', { params }))
  const error = config.error ?? relations.error
  if (config.data && relations.data)
    return (
      <ConfigurationView
        key={config.data.id}
        teamSlug={params.teamSlug}
        config={config.data}
        relations={relations.data}
      />
    )
  if (isStatus(error, 404) || isStatus(error, 403)) return <NotFound />
  if (error)
    return (
      <ErrorState
        error={error}
        retry={() => {
          void config.refetch()
          void relations.refetch()
        }}
      />
    )
  return <SkeletonPage />
}

function ConfigurationView({
  teamSlug,
  config,
  relations,
}: {
  teamSlug: string
  config: Config
  relations: Relations
}) {
  const { t } = useTranslation(['configuration', 'common'])
  const navigate = useNavigate()
  const [view, setView] = useState<'form' | 'json'>('form')
  const [params] = useState({ teamSlug, configId: config.id })
  const { image, deployment, project, version } = relations
  const prefix = deployment?.prefix
  const patchDenied = useDenied('container-configuration/patch-config')
  // What is typed while the page is left goes this way.
  const updateDenied = useDenied('container-configurations.update')
  const readOnly =
    patchDenied ??
    updateDenied ??
    (config.parent.mutable ? null : t(deployment ? 'readOnly.deployment' : 'readOnly.version'))
  const editors = useEditors('container-configuration', params)
  const draft = useConfigDraft(params, config, prefix)
  const kind = config.type === 'instance' ? 'instance' : 'image'
  const defaultName = defaultContainerName(image?.name ?? config.parent.name)
  const name = draft.own.name || (kind === 'instance' ? image?.config.name : null) || defaultName
  const instance = deployment?.instances.find((candidate) => candidate.configId === config.id)
  const reference = image ? `${image.name}:${image.tag ?? '-'}` : config.parent.name

  return (
    <ConfigFormProvider
      value={{
        configId: config.id,
        kind,
        own: draft.own,
        parent: kind === 'instance' && image ? fieldsOf(image.config) : null,
        edit: draft.edit,
        reset: draft.reset,
        resolve: draft.resolve,
        conflicts: draft.conflicts,
        errorOf: draft.errorOf,
        readOnly,
        editors,
      }}
    >
      <PageHead
        title={name}
        fullTitle={t('head.full', { name })}
        crumbs={crumbsOf(teamSlug, relations, t)}
        sub={
          <>
            {deployment && project && version
              ? t('head.instance', { project: project.name, version: version.name, node: deployment.node.name })
              : t('head.image', { project: project?.name ?? '', version: version?.name ?? '' })}{' '}
            <code>{reference}</code>
          </>
        }
        tools={
          <>
            <span className="flex-none!">
              <SaveIndicator status={draft.state} />
            </span>
            <span className="flex-none!">
              <Chips
                label={t('head.view')}
                value={view}
                onChange={setView}
                options={[
                  { value: 'form', label: t('head.form') },
                  { value: 'json', label: t('head.json') },
                ]}
              />
            </span>
            {deployment && (
              <Button
                variant="main"
                icon={Rocket}
                disabledReason={draft.state === 'held' && t('head.unsaved')}
                onClick={() => void navigate(links.deployment(teamSlug, deployment.id))}
              >
                {t('head.review')}
              </Button>
            )}
          </>
        }
      />
      {readOnly && (
        <p role="status" className="mb-3 flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2">
          <Lock aria-hidden className="text-ink-2" />
          {readOnly}
        </p>
      )}
      {view === 'form' ? (
        <SettingsForm
          fieldHasError={draft.fieldHasError}
          defaultName={defaultName}
          prefix={prefix}
          aside={
            deployment && (
              <BeforeDeploy
                teamSlug={teamSlug}
                deploymentId={deployment.id}
                instanceId={instance?.id}
                revision={JSON.stringify(draft.stored)}
              />
            )
          }
        />
      ) : (
        <JsonTab />
      )}
    </ConfigFormProvider>
  )
}

type T = ReturnType<typeof useTranslation<['configuration', 'common']>>['t']

function crumbsOf(teamSlug: string, { project, version, deployment }: Relations, t: T): Crumb[] {
  if (deployment && project && version)
    return [
      { label: t('head.deployments'), link: links.deployments(teamSlug) },
      { label: `${project.name} ${version.name}`, link: links.deployment(teamSlug, deployment.id) },
    ]
  if (project && version)
    return [
      { label: project.name, link: links.project(teamSlug, project.id) },
      { label: version.name, link: links.version(teamSlug, project.id, version.id, 'images') },
    ]
  return []
}
