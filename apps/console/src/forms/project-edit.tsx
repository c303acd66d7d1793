import { ProjectUpdate, type ResponseOf } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { TextAreaField, TextField } from './fields.tsx'

type Props = { teamSlug: string; project: ResponseOf<'projects.get'>; onClose: () => void }

/** A versionless project has its changelog here; the versions of others have their own. */
export function ProjectEdit({ teamSlug, project, onClose }: Props) {
  const { t } = useTranslation(['projects', 'common'])
  const versionless = project.type === 'versionless'
  const form = useForm({
    resolver: zodResolver(ProjectUpdate),
    defaultValues: {
      name: project.name,
      description: project.description ?? '',
      changelog: project.versions[0]?.changelog ?? '',
    },
  })
  const update = useCall('projects.update', {
    stale: [queryKey('projects.get'), queryKey('projects.list'), queryKey('versions.get')],
    onSuccess: (_, { body }) => {
      toastSuccess(t('saved', { name: body.name }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={t('form.editTitle', { name: project.name })}
      form={form}
      call={update}
      onClose={onClose}
      onSubmit={({ name, description, changelog }) =>
        update.mutateAsync({
          params: { teamSlug, projectId: project.id },
          body: { name, description: description || null, ...(versionless ? { changelog: changelog || null } : {}) },
        })
      }
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      {versionless && <TextAreaField form={form} name="changelog" label={t('form.changelog')} optional rows={4} />}
    </FormSheet>
  )
}
