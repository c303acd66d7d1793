import { ProjectUpdate, type ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { SwitchField, TextAreaField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

const schema = ProjectUpdate.extend({ versioned: z.boolean() })

type Props = { teamSlug: string; project?: ResponseOf<'projects.get'>; onClose: () => void }

/** Creates a project, or updates the given one. A versionless project has its changelog here; the versions of others have their own. */
export function ProjectForm({ teamSlug, project, onClose }: Props) {
  const { t } = useTranslation(['projects', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const isVersionless = project?.type === 'versionless'
  const form = useZodForm(schema, {
    name: project?.name ?? '',
    description: project?.description ?? '',
    changelog: project?.versions[0]?.changelog ?? '',
    versioned: true,
  })
  const create = useCall('projects.create', {
    stale: [queryKey('projects.list'), queryKey('dashboard.get')],
    onSuccess: ({ id, name }) => created(links.project(teamSlug, id), t('created', { name })),
  })
  const update = useCall('projects.update', {
    stale: [queryKey('projects.get'), queryKey('projects.list'), queryKey('versions.get')],
    onSuccess: (_, { body: { name } }) => updated(t('saved', { name })),
  })
  const shell = project
    ? { title: t('form.editTitle', { name: project.name }), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.create'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      onClose={onClose}
      onSubmit={({ name, description, changelog, versioned }) => {
        const body = { name, description: description || null }
        return project
          ? update.mutateAsync({
              params: { teamSlug, projectId: project.id },
              body: isVersionless ? { ...body, changelog: changelog || null } : body,
            })
          : create.mutateAsync({
              params: { teamSlug },
              body: { ...body, type: versioned ? 'versioned' : 'versionless' },
            })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      {!project && (
        <SwitchField form={form} name="versioned" label={t('form.versioned')} help={t('form.versionedHelp')} />
      )}
      {isVersionless && <TextAreaField form={form} name="changelog" label={t('form.changelog')} optional rows={4} />}
    </FormSheet>
  )
}
