import { getField, getFields, isWithin, type LowerLayers, listLowerLayers, mergeLowerLayers } from '@crux/config-editor'
import type { ContainerConfigType, NodeType, ResponseOf } from '@crux/contract'
import {
  bundleConflicts,
  defaultContainerName,
  imageText,
  mergeConfig,
  notApplied,
  type ValidationOptions,
} from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { Lock } from 'lucide-react'
import { lazy, Suspense, useDeferredValue, useMemo, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../../api/client.ts'
import { useEditors } from '../../../api/editors.ts'
import { useDenied, useDeniedPart } from '../../../api/me.ts'
import { PageHeader } from '../../../components/PageHeader.tsx'
import { SkeletonRows } from '../../../components/Skeletons.tsx'
import { isTyping, useKey } from '../../../components/use-key.ts'
import { versionTitle } from '../../../components/version-title.ts'
import { lazyComponent } from '../../../loading/lazy-component.tsx'
import { loadChunk } from '../../../loading/load-chunk.ts'
import { loadArea } from '../../../locales/i18n.ts'
import { links } from '../../../routing/links.ts'
import type { Crumb } from '../../../stores/crumbs.ts'
import { type ConfigForm, ConfigFormProvider } from '../form/config-context.ts'
import { getStartProblems, placeOfProblem, type StartProblem } from '../form/start-problems.ts'
import { SecretValuesProvider } from '../secrets/use-secret-values.tsx'
import { HeadTools } from './HeadTools.tsx'
import { useConfigDraft } from './use-config-draft.ts'

type Config = ResponseOf<'container-configurations.get'>
type Relations = ResponseOf<'container-configurations.relations'>
type Props = { teamSlug: string; config: Config; relations: Relations }

// Asked for with the page, so that it is here when the page's data is.
const loadForm = loadChunk(() => import('./SettingsForm.tsx'))
loadForm.catch(() => undefined)
const SettingsForm = lazy(() => loadForm.then((module) => ({ default: module.SettingsForm })))
const BeforeDeploy = lazyComponent(async () => {
  const [module] = await Promise.all([import('./BeforeDeploy.tsx'), loadArea('deployments')])
  return module.BeforeDeploy
})
const JsonTab = lazyComponent(async () => (await import('./JsonTab.tsx')).JsonTab)
const FinalTab = lazyComponent(async () => (await import('./FinalTab.tsx')).FinalTab)

/** One layer of a configuration: as a form, as JSON, and for what is deployed as what comes of all layers. */
export function ConfigurationView({ teamSlug, config, relations }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const navigate = useNavigate()
  const { view: wanted, fields: filter } = useSearch({ from: '/app/$teamSlug/container-configurations/$configId' })
  const [params] = useState({ teamSlug, configId: config.id })
  const { image, deployment } = relations
  const view = wanted === 'final' && !deployment ? undefined : wanted
  const prefix = config.type === 'instance' ? deployment?.prefix : undefined
  const patchDenied = useDenied('container-configuration/patch-config')
  // Text that is still unsaved when the page closes is sent this way.
  const updateDenied = useDenied('container-configurations.update')
  const readOnly =
    patchDenied ??
    updateDenied ??
    (config.parent.mutable ? null : t(deployment ? 'readOnly.deployment' : 'readOnly.version'))
  const editors = useEditors('container-configuration', params)
  const nodeType = deployment?.node.type ?? null
  const below = useMemo(() => mergeLowerLayers(listLowerLayers(config.type, relations)), [config.type, relations])
  const parent = below.layers.length > 0 || config.type === 'instance' ? below.fields : null
  const hostDenied = useDeniedPart('container-configurations.host-dangerous')
  const context = useMemo(
    () => ({ ...toPlace(config.type, below, prefix, nodeType), hostDenied }),
    [config.type, below, prefix, nodeType, hostDenied],
  )
  const draft = useConfigDraft(params, config, context)
  const bundles = deployment?.configBundles
  const drawn = useDeferredValue(draft.own)
  const ambiguities = useMemo(() => {
    const own = config.type === 'deployment' ? drawn : deployment?.config && getFields(deployment.config)
    const namedBundles = bundles?.map(({ name, config: layer }) => ({
      configId: layer.id,
      name,
      fields: getFields(layer),
    }))
    return namedBundles && own ? bundleConflicts(namedBundles, own) : []
  }, [config.type, drawn, deployment?.config, bundles])
  const idle = useMemo(
    () => (nodeType ? notApplied(mergeConfig(below.fields, drawn), nodeType) : []),
    [nodeType, below, drawn],
  )
  const instance = deployment?.instances.find((candidate) => candidate.configId === config.id)
  const preview = useQuery({
    ...apiQuery('deployments.preview', { params: { teamSlug, deploymentId: deployment?.id ?? '' } }),
    enabled: instance !== undefined,
  })
  const problems = useMemo<StartProblem[]>(
    () => (instance ? getStartProblems(preview.data, instance.id, drawn, below.fields, draft.errorTexts) : []),
    [preview.data, instance, drawn, below, draft.errorTexts],
  )
  const inFields = problems.filter((problem) => placeOfProblem(problem) === 'field')
  const defaultName = defaultContainerName(image?.name ?? config.parent.name)
  const title = getTitle(config, relations, draft.own.name || below.fields.name || defaultName)

  useKey((event) => {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || isTyping(event.target)) return false
    const key = event.key.toLowerCase()
    if (key === 'z') (event.shiftKey ? draft.redo : draft.undo)()
    else if (key === 'y') draft.redo()
    else return false
    return true
  })

  const form: ConfigForm = {
    ...draft,
    teamSlug,
    configId: config.id,
    kind: config.type,
    nodeType,
    parent,
    below,
    ambiguities,
    notApplied: idle,
    startProblems: problems.filter((problem) => placeOfProblem(problem) === 'note'),
    getError: (property) =>
      draft.getError(property) ?? inFields.find((problem) => problem.property === property)?.description,
    errorsBelow: (property) => [
      ...draft.errorsBelow(property),
      ...inFields.filter((problem) => isWithin(problem.property, property)).map(({ description }) => description),
    ],
    readOnly,
    editors,
  }
  return (
    <ConfigFormProvider value={form}>
      <SecretValuesProvider node={deployment} revision={draft.revision}>
        <PageHeader
          title={title}
          fullTitle={t('head.full', { name: title })}
          crumbs={toCrumbs(teamSlug, relations, t)}
          subtitle={<SubLine type={config.type} relations={relations} name={config.parent.name} />}
          actions={
            <HeadTools
              draft={draft}
              deploymentId={deployment?.id}
              view={view ?? 'form'}
              onView={(next) =>
                void navigate({
                  ...links.containerConfiguration(teamSlug, config.id),
                  search: { view: next === 'form' ? undefined : next, fields: filter },
                  replace: true,
                })
              }
            />
          }
        />
        {readOnly && (
          <p role="status" className="mb-3 flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2">
            <Lock aria-hidden className="text-ink-2" />
            {readOnly}
          </p>
        )}
        {view === 'json' ? (
          <JsonTab />
        ) : view === 'final' && deployment ? (
          <FinalTab deploymentId={deployment.id} instanceId={instance?.id} revision={draft.revision} />
        ) : (
          <Suspense fallback={<SkeletonRows rows={12} />}>
            <SettingsForm
              errorsIn={(field) =>
                draft.errorsIn(field) + problems.filter(({ property }) => getField(property) === field).length
              }
              defaultName={defaultName}
              prefix={prefix}
              trailing={
                deployment && (
                  <BeforeDeploy
                    teamSlug={teamSlug}
                    deploymentId={deployment.id}
                    instanceId={instance?.id}
                    revision={draft.revision}
                  />
                )
              }
            />
          </Suspense>
        )}
      </SecretValuesProvider>
    </ConfigFormProvider>
  )
}

/** The context for the validation of a layer: a deployment or config bundle applies to several instances, whose other layers may set what it omits. */
function toPlace(
  type: ContainerConfigType,
  below: LowerLayers,
  prefix: string | undefined,
  nodeType: NodeType | null,
): ValidationOptions {
  const over = type === 'instance' ? below.fields : type === 'image' ? undefined : 'unknown'
  return { prefix, below: over, nodeType: nodeType ?? undefined }
}

type T = ReturnType<typeof useTranslation<['configuration', 'common']>>['t']

const getTitle = (config: Config, { deployment, configBundle }: Relations, container: string): string => {
  if (config.type === 'config-bundle') return configBundle?.name ?? config.parent.name
  return config.type === 'deployment' ? (deployment?.prefix ?? config.parent.name) : container
}

/** What kind of configuration it is, and of what. */
function SubLine({ type, relations, name }: { type: ContainerConfigType; relations: Relations; name: string }) {
  const { t } = useTranslation(['configuration', 'common'])
  const { image, deployment, project, version } = relations
  const context = {
    version: project && version ? versionTitle(project, version) : '',
    node: deployment?.node.name ?? '',
  }
  if (type === 'config-bundle' || type === 'deployment') return t(`head.${type}`, context)
  return (
    <>
      {t(`head.${type}`, context)} <code>{image ? imageText(image) : name}</code>
    </>
  )
}

function toCrumbs(teamSlug: string, { project, version, deployment, configBundle }: Relations, t: T): Crumb[] {
  if (configBundle) return [{ label: t('head.bundles'), link: links.configBundles(teamSlug) }]
  if (deployment && project && version)
    return [
      { label: t('head.deployments'), link: links.deployments(teamSlug) },
      { label: versionTitle(project, version), link: links.deployment(teamSlug, deployment.id) },
    ]
  if (project && version)
    return [
      { label: t('head.projects'), link: links.projects(teamSlug) },
      { label: project.name, link: links.project(teamSlug, project.id) },
      ...(project.type === 'versionless'
        ? []
        : [{ label: version.name, link: links.version(teamSlug, project.id, version.id, 'images') }]),
    ]
  return []
}
