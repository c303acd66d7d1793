import { Name, projectTypes, type ResponseOf, VersionName, versionTypes } from '@crux/contract'
import { type UseQueryResult, useQuery } from '@tanstack/react-query'
import i18n from 'i18next'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { apiQuery, queryKey, useCall } from '../../api/client.ts'
import { QueryView } from '../../components/QueryView.tsx'
import type { ServiceResult } from '../../composer/compose-result.ts'
import { findServiceProblems, toImportedImages } from '../../composer/to-import.ts'
import { FormSheet } from '../../forms/FormShell.tsx'
import { ChipsField, SelectField, TextAreaField, TextField } from '../../forms/fields.tsx'
import { nextVersion } from '../../forms/next-version.ts'
import { useFormEnd, useZodForm } from '../../forms/use-form.ts'
import { links } from '../../routing/links.ts'

const Values = z
  .object({
    target: z.enum(['existing', 'new']),
    projectId: z.string(),
    projectName: z.string(),
    description: z.string().trim().max(2_000),
    projectType: z.enum(projectTypes),
    versionName: z.string(),
    versionType: z.enum(versionTypes),
    changelog: z.string().trim().max(10_000),
  })
  .superRefine((values, context) => {
    const check = (path: keyof typeof values, schema: z.ZodType) => {
      for (const issue of schema.safeParse(values[path]).error?.issues ?? [])
        context.addIssue({ code: 'custom', path: [path], message: issue.message })
    }
    if (values.target === 'existing') check('projectId', z.string().min(1, i18n.t('rules.required')))
    else check('projectName', Name)
    if (hasVersion(values)) check('versionName', VersionName)
  })
type Values = z.output<typeof Values>

/** A versionless project has no version that could be named. */
const hasVersion = ({ target, projectType }: Pick<Values, 'target' | 'projectType'>) =>
  target === 'existing' || projectType === 'versioned'

/** Names of the server's properties where they differ from those of the form. */
const fields = {
  'project.name': 'projectName',
  'project.description': 'description',
  'project.type': 'projectType',
  'version.name': 'versionName',
  'version.type': 'versionType',
  'version.changelog': 'changelog',
}

type Props = {
  teamSlug: string
  /** The project that is proposed. */
  projectId: string | undefined
  services: readonly ServiceResult[]
  /** Why the current files cannot be imported; they may have changed since the sheet was opened. */
  blockedBecause: string | null
  onClose: () => void
}

/** Where the version is created: in an existing versioned project, or in a new one. One request creates everything or nothing. */
export function GenerateSheet({ teamSlug, projectId, services, blockedBecause, onClose }: Props) {
  const { t } = useTranslation(['composer', 'versions', 'common'])
  const { created } = useFormEnd(onClose)
  const projects = useQuery(apiQuery('projects.list', { params: { teamSlug } }))
  const form = useZodForm(Values, {
    target: projectId ? 'existing' : 'new',
    projectId: projectId ?? '',
    projectName: '',
    description: '',
    projectType: 'versioned',
    versionName: '1.0.0',
    versionType: 'incremental',
    changelog: '',
  })
  const [target, projectType, chosenId] = form.watch(['target', 'projectType', 'projectId'])
  const project = useQuery({
    ...apiQuery('projects.get', { params: { teamSlug, projectId: chosenId || '-' } }),
    enabled: target === 'existing' && chosenId !== '',
  })
  const newest = project.data?.versions.toSorted((a, b) => (a.audit.createdAt < b.audit.createdAt ? 1 : -1))[0]
  useEffect(() => {
    if (target === 'existing' && project.data && !form.formState.dirtyFields.versionName)
      form.setValue('versionName', newest ? nextVersion(newest.name) : '1.0.0')
  }, [target, project.data?.id])

  const stale = [
    queryKey('projects.list'),
    queryKey('projects.get'),
    queryKey('versions.get'),
    queryKey('dashboard.get'),
  ]
  const importProject = useCall('projects.import', {
    stale,
    toast: false,
    onSuccess: ({ id, name, type, versionId }) =>
      created(
        type === 'versionless' ? links.project(teamSlug, id) : links.version(teamSlug, id, versionId),
        t('generated', { name, count: services.length }),
      ),
  })
  const importVersion = useCall('versions.import', {
    stale,
    toast: false,
    onSuccess: ({ id, name }, { params }) =>
      created(links.version(teamSlug, params.projectId, id), t('generated', { name, count: services.length })),
  })
  const call = target === 'existing' ? importVersion : importProject
  const denied = target === 'existing' ? importVersion.denied : importProject.denied
  const found = call.error ? findServiceProblems(call.error.details, services) : []
  return (
    <FormSheet
      form={form}
      title={t('form.title')}
      description={t('form.text', { count: services.length })}
      submitLabel={t('form.submit')}
      // What belongs to a service is listed below with its name.
      call={{ ...call, error: found.length > 0 ? null : call.error, denied: denied ?? blockedBecause }}
      fields={target === 'existing' ? { name: 'versionName', type: 'versionType' } : fields}
      onClose={onClose}
      onSubmit={(values) => {
        const images = toImportedImages(services)
        const version = {
          name: values.versionName.trim(),
          changelog: values.changelog || null,
          type: values.versionType,
        }
        if (values.target === 'existing')
          return importVersion.mutateAsync({
            params: { teamSlug, projectId: values.projectId },
            body: { ...version, images },
          })
        const made = {
          name: values.projectName.trim(),
          description: values.description || null,
          type: values.projectType,
        }
        return importProject.mutateAsync({
          params: { teamSlug },
          body: { project: made, version: hasVersion(values) ? version : null, images },
        })
      }}
    >
      <ServiceProblems problems={found} />
      <ChipsField
        form={form}
        name="target"
        label={t('form.target')}
        options={[
          { value: 'new', label: t('form.newProject') },
          { value: 'existing', label: t('form.existingProject') },
        ]}
      />
      {target === 'existing' ? (
        <ExistingProject form={form} projects={projects} />
      ) : (
        <>
          <TextField form={form} name="projectName" label={t('form.projectName')} autoComplete="off" />
          <TextAreaField form={form} name="description" label={t('common:description')} optional rows={2} />
          <ChipsField
            form={form}
            name="projectType"
            label={t('form.projectType')}
            help={t(projectType === 'versioned' ? 'form.versionedHelp' : 'form.versionlessHelp')}
            options={projectTypes.map((value) => ({ value, label: t(`form.${value}`) }))}
          />
        </>
      )}
      {hasVersion({ target, projectType }) && <VersionFields form={form} />}
    </FormSheet>
  )
}

type Form = ReturnType<typeof useZodForm<z.input<typeof Values>, Values>>

/** The list is rendered when it is loaded: before that, it could not show the project that is proposed. */
function ExistingProject({ form, projects }: { form: Form; projects: UseQueryResult<ResponseOf<'projects.list'>> }) {
  const { t } = useTranslation('composer')
  return (
    <QueryView query={projects} skeleton={<span className="skeleton block h-12" />} isEmpty={() => false}>
      {(all) => {
        const versioned = all.filter(({ type }) => type === 'versioned')
        return (
          <SelectField
            form={form}
            name="projectId"
            label={t('form.project')}
            help={versioned.length === 0 ? t('form.noProject') : undefined}
            none={t('form.choose')}
            options={versioned.map(({ id, name }) => ({ value: id, label: name }))}
          />
        )
      }}
    </QueryView>
  )
}

function VersionFields({ form }: { form: Form }) {
  const { t } = useTranslation(['composer', 'versions', 'common'])
  const type = form.watch('versionType')
  return (
    <>
      <TextField form={form} name="versionName" label={t('form.versionName')} mono autoComplete="off" />
      <ChipsField
        form={form}
        name="versionType"
        label={t('versions:form.type')}
        help={t(type === 'rolling' ? 'versions:form.rollingHelp' : 'versions:form.incrementalHelp')}
        options={versionTypes.map((value) => ({ value, label: t(`versions:form.${value}`) }))}
      />
      <TextAreaField form={form} name="changelog" label={t('versions:form.changelog')} optional rows={3} />
    </>
  )
}

function ServiceProblems({ problems }: { problems: ReturnType<typeof findServiceProblems> }) {
  const { t } = useTranslation('composer')
  if (problems.length === 0) return null
  return (
    <div role="alert" className="rounded-md px-2.5 py-2 tinted-failed text-failed">
      <p className="font-strong">{t('form.refused')}</p>
      <ul className="mt-1 grid gap-1">
        {problems.slice(0, 20).map(({ service, property, description }) => (
          <li key={`${service} ${property} ${description}`} className="wrap-anywhere">
            <b className="mono font-semibold">{service}</b> <code className="mono">{property}</code> {description}
          </li>
        ))}
      </ul>
    </div>
  )
}
