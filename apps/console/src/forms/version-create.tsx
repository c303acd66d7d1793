import { VersionCreate as Body } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { ChipsField } from './fields.tsx'
import { AutoCopyField, VersionNameFields } from './version-fields.tsx'

export function VersionCreate({
  teamSlug,
  projectId,
  onClose,
}: {
  teamSlug: string
  projectId: string
  onClose: () => void
}) {
  const { t } = useTranslation('versions')
  const navigate = useNavigate()
  const form = useForm({
    resolver: zodResolver(Body),
    defaultValues: { name: '', changelog: '', type: 'incremental', autoCopyDeployments: true },
  })
  const type = form.watch('type')
  const create = useCall('versions.create', {
    stale: [queryKey('projects.get'), queryKey('projects.list'), queryKey('dashboard.get')],
    onSuccess: (version) => {
      toastSuccess(t('created', { name: version.name }))
      return navigate({ ...links.version(teamSlug, projectId, version.id), ...replaceFormEntry() })
    },
  })
  return (
    <FormSheet
      title={t('form.createTitle')}
      form={form}
      submitLabel={t('form.create')}
      call={create}
      onClose={onClose}
      onSubmit={(values) =>
        create.mutateAsync({
          params: { teamSlug, projectId },
          body: {
            ...values,
            changelog: values.changelog || null,
            autoCopyDeployments: values.type === 'incremental' && values.autoCopyDeployments,
          },
        })
      }
    >
      <VersionNameFields form={form} />
      <ChipsField
        form={form}
        name="type"
        label={t('form.type')}
        help={type === 'rolling' ? t('form.rollingHelp') : t('form.incrementalHelp')}
        options={[
          { value: 'incremental', label: t('form.incremental') },
          { value: 'rolling', label: t('form.rolling') },
        ]}
      />
      {type === 'incremental' && <AutoCopyField form={form} />}
    </FormSheet>
  )
}
