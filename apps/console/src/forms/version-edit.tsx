import { type ResponseOf, VersionUpdate } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { AutoCopyField, VersionNameFields } from './version-fields.tsx'

type Props = { teamSlug: string; projectId: string; version: ResponseOf<'versions.get'>; onClose: () => void }

export function VersionEdit({ teamSlug, projectId, version, onClose }: Props) {
  const { t } = useTranslation(['versions', 'common'])
  const form = useForm({
    resolver: zodResolver(VersionUpdate),
    defaultValues: {
      name: version.name,
      changelog: version.changelog ?? '',
      autoCopyDeployments: version.autoCopyDeployments,
    },
  })
  const update = useCall('versions.update', {
    stale: [queryKey('versions.get'), queryKey('projects.get')],
    onSuccess: (_, { body }) => {
      toastSuccess(t('saved', { name: body.name }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={t('form.editTitle', { name: version.name })}
      form={form}
      call={update}
      onClose={onClose}
      onSubmit={(values) =>
        update.mutateAsync({
          params: { teamSlug, projectId, versionId: version.id },
          body: { ...values, changelog: values.changelog || null },
        })
      }
    >
      <VersionNameFields form={form} />
      {version.type === 'incremental' && <AutoCopyField form={form} />}
    </FormSheet>
  )
}
