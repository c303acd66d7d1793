import { ApiError } from '@crux/client'
import { DeploymentCreate as Body, type ResponseOf } from '@crux/contract'
import { getPrefix } from '@crux/rules'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { apiQuery, queryKey, useCall } from '../api/client.ts'
import { useDeniedPart } from '../api/me.ts'
import { toastWarning } from '../components/toasts.tsx'
import { versionTitle } from '../components/version-title.ts'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { SelectField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import { NodeField } from './node-field.tsx'
import { useZodForm } from './use-form.ts'

type Props = {
  teamSlug: string
  /** From the page of a version: project and version are then fixed. */
  of?: { project: Pick<ResponseOf<'projects.get'>, 'id' | 'name' | 'type'>; version: { id: string; name: string } }
  onClose: () => void
}
const schema = Body.extend({ projectId: Body.shape.versionId })

/** 409 carries the id of the conflicting deployment, and the console opens it. */
const isExistingDeployment = (error: unknown): error is ApiError & { value: string } =>
  error instanceof ApiError &&
  (error.error === 'rollingVersionDeployment' || error.error === 'alreadyHavePreparing') &&
  typeof error.value === 'string'

type Project = ResponseOf<'projects.list'>[number]

/** Creates a deployment of a version on a node. An existing one is opened instead of an error. */
export function DeploymentCreate({ teamSlug, of, onClose }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const protectDenied = useDeniedPart('deployments.protect')
  const form = useZodForm(schema, {
    nodeId: '',
    projectId: of?.project.id ?? '',
    versionId: of?.version.id ?? '',
    prefix: of ? getPrefix(of.project.name) : '',
    protected: false,
    note: '',
  })
  const projects = useQuery({ ...apiQuery('projects.list', { params: { teamSlug } }), enabled: !of })
  const create = useCall('deployments.create', {
    stale: [queryKey('deployments.list'), queryKey('versions.get'), queryKey('nodes.deployments')],
    toast: (error) => !isExistingDeployment(error),
  })
  const open = (id: string) => navigate({ ...links.deployment(teamSlug, id), ...replaceFormEntry() })
  const pickProject = (project: Project | undefined) => {
    form.setValue('versionId', '')
    if (!form.formState.dirtyFields.prefix) form.setValue('prefix', project ? getPrefix(project.name) : '')
  }

  return (
    <FormSheet
      form={form}
      title={t('create.title')}
      description={of ? t('create.ofVersion', { version: versionTitle(of.project, of.version) }) : t('create.text')}
      submitLabel={t('create.submit')}
      call={{ ...create, error: isExistingDeployment(create.error) ? null : create.error }}
      onClose={onClose}
      onSubmit={async ({ projectId: _, ...body }) => {
        try {
          await open((await create.mutateAsync({ params: { teamSlug }, body })).id)
        } catch (error) {
          if (!isExistingDeployment(error)) throw error
          toastWarning(t(error.error === 'alreadyHavePreparing' ? 'existing.preparing' : 'existing.rolling'))
          await open(error.value)
        }
      }}
    >
      {!of && (
        <>
          <SelectField
            form={form}
            name="projectId"
            label={t('create.project')}
            help={projects.data?.length === 0 ? t('create.noProject') : undefined}
            onPick={(id) => pickProject(projects.data?.find((project) => project.id === id))}
            none={projects.isPending ? t('common:loading') : t('create.choose')}
            options={(projects.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          />
          <VersionSelect teamSlug={teamSlug} form={form} />
        </>
      )}
      <NodeField form={form} name="nodeId" teamSlug={teamSlug} />
      <TextField form={form} name="prefix" label={t('create.prefix')} help={t('create.prefixHelp')} mono />
      <SwitchField
        form={form}
        name="protected"
        label={t('create.protected')}
        help={protectDenied ?? t('create.protectedHelp')}
        disabled={protectDenied !== null}
      />
      <TextAreaField form={form} name="note" label={t('create.note')} optional />
    </FormSheet>
  )
}

type VersionSelectProps = {
  teamSlug: string
  form: UseFormReturn<z.input<typeof schema>, unknown, z.output<typeof schema>>
}

/** The default version is proposed; a versionless project has just one and needs no question. */
function VersionSelect({ teamSlug, form }: VersionSelectProps) {
  const { t } = useTranslation(['deployments', 'common'])
  const [projectId, versionId] = form.watch(['projectId', 'versionId'])
  const project = useQuery({
    ...apiQuery('projects.get', { params: { teamSlug, projectId: projectId || '-' } }),
    enabled: projectId !== '',
  })
  const versions = project.data?.versions
  const proposed = versions?.find((version) => version.default) ?? versions?.[0]
  useEffect(() => {
    if (proposed && versionId === '')
      form.setValue('versionId', proposed.id, { shouldValidate: form.formState.isSubmitted })
  }, [proposed?.id])
  if (projectId === '' || project.data?.type === 'versionless') return null
  return (
    <SelectField
      form={form}
      name="versionId"
      label={t('create.version')}
      help={versions?.length === 0 ? t('create.noVersion') : undefined}
      none={project.isPending ? t('common:loading') : t('create.choose')}
      options={(versions ?? []).map((version) => ({
        value: version.id,
        label: version.default ? `${version.name} (${t('create.default')})` : version.name,
      }))}
    />
  )
}
