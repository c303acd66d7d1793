import { DeploymentCreate as Body, type ResponseOf } from '@crux/contract'
import { prefixOf } from '@crux/rules'
import { zodResolver } from '@hookform/resolvers/zod'
import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { apiQuery, queryKey, useCall } from '../api/client.ts'
import { useDeniedPart } from '../api/me.ts'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { goToExisting, isExistingDeployment } from './deployment-existing.ts'
import { FormSheet } from './FormShell.tsx'
import { SelectField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import { NodeField } from './node-field.tsx'

type Props = {
  teamSlug: string
  /** From the page of a version: project and version are then fixed. */
  version?: { projectId: string; projectName: string; versionId: string; title: string }
  onClose: () => void
}
const schema = Body.extend({ projectId: Body.shape.versionId })
type Values = z.input<typeof schema>
type Project = ResponseOf<'projects.list'>[number]

/** Creates a deployment of a version on a node. An existing one is opened instead of an error. */
export function DeploymentCreate({ teamSlug, version, onClose }: Props) {
  const { t } = useTranslation(['deployments', 'common'])
  const navigate = useNavigate()
  const protectDenied = useDeniedPart('deployments.protect')
  const form = useForm<Values, unknown, z.output<typeof schema>>({
    resolver: zodResolver(schema),
    defaultValues: {
      nodeId: '',
      projectId: version?.projectId ?? '',
      versionId: version?.versionId ?? '',
      prefix: version ? prefixOf(version.projectName) : '',
      protected: false,
      note: '',
    },
  })
  const projects = useQuery({ ...apiQuery('projects.list', { params: { teamSlug } }), enabled: !version })
  const create = useCall('deployments.create', {
    stale: [queryKey('deployments.list'), queryKey('versions.get'), queryKey('nodes.deployments')],
    toast: (error) => !isExistingDeployment(error),
  })
  const pickProject = (project: Project | undefined) => {
    form.setValue('versionId', '')
    if (!form.formState.dirtyFields.prefix) form.setValue('prefix', project ? prefixOf(project.name) : '')
  }

  return (
    <FormSheet
      form={form}
      title={t('create.title')}
      description={version ? t('create.ofVersion', { version: version.title }) : t('create.text')}
      submitLabel={t('create.submit')}
      call={{ ...create, error: isExistingDeployment(create.error) ? null : create.error }}
      onClose={onClose}
      onSubmit={async ({ projectId: _, ...body }) => {
        try {
          const deployment = await create.mutateAsync({ params: { teamSlug }, body })
          await navigate({ ...links.deployment(teamSlug, deployment.id), ...replaceFormEntry() })
        } catch (error) {
          if (!(await goToExisting(error, teamSlug, navigate))) throw error
        }
      }}
    >
      {!version && (
        <SelectField
          form={form}
          name="projectId"
          label={t('create.project')}
          help={projects.data?.length === 0 ? t('create.noProject') : undefined}
          onPick={(id) => pickProject(projects.data?.find((project) => project.id === id))}
        >
          <option value="">{projects.isPending ? t('common:loading') : t('create.choose')}</option>
          {projects.data?.map((project) => (
            <option key={project.id} value={project.id}>
              {project.name}
            </option>
          ))}
        </SelectField>
      )}
      {!version && (
        <VersionSelect
          teamSlug={teamSlug}
          projectId={form.watch('projectId')}
          value={form.watch('versionId')}
          form={form}
          choose={(id) => form.setValue('versionId', id, { shouldValidate: form.formState.isSubmitted })}
        />
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
  projectId: string
  value: string
  choose: (versionId: string) => void
  form: Parameters<typeof SelectField<Values, z.output<typeof schema>>>[0]['form']
}

/** The default version is proposed; a versionless project has just one and needs no question. */
function VersionSelect({ teamSlug, projectId, value, choose, form }: VersionSelectProps) {
  const { t } = useTranslation(['deployments', 'common'])
  const project = useQuery({
    ...apiQuery('projects.get', { params: { teamSlug, projectId: projectId || '-' } }),
    enabled: projectId !== '',
  })
  const versions = project.data?.versions
  const proposed = versions?.find((version) => version.default) ?? versions?.[0]
  useEffect(() => {
    if (proposed && value === '') choose(proposed.id)
  }, [proposed?.id])
  if (projectId === '' || project.data?.type === 'versionless') return null
  return (
    <SelectField
      form={form}
      name="versionId"
      label={t('create.version')}
      help={versions?.length === 0 ? t('create.noVersion') : undefined}
    >
      <option value="">{project.isPending ? t('common:loading') : t('create.choose')}</option>
      {versions?.map((version) => (
        <option key={version.id} value={version.id}>
          {version.name}
          {version.default ? ` (${t('create.default')})` : ''}
        </option>
      ))}
    </SelectField>
  )
}
