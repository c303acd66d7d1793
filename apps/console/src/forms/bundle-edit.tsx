import { ConfigBundleCreate, type ResponseOf } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { TextAreaField, TextField } from './fields.tsx'

type Props = { teamSlug: string; bundle: ResponseOf<'config-bundles.get'>; onClose: () => void }

export function BundleEdit({ teamSlug, bundle, onClose }: Props) {
  const { t } = useTranslation(['bundles', 'common'])
  const form = useForm<z.input<typeof ConfigBundleCreate>, unknown, z.output<typeof ConfigBundleCreate>>({
    resolver: zodResolver(ConfigBundleCreate),
    defaultValues: { name: bundle.name, description: bundle.description ?? '' },
  })
  const update = useCall('config-bundles.update', {
    stale: [queryKey('config-bundles.list'), queryKey('config-bundles.get')],
  })
  return (
    <FormSheet
      title={t('form.editTitle', { name: bundle.name })}
      form={form}
      call={update}
      onClose={onClose}
      onSubmit={async (values) => {
        await update.mutateAsync({ params: { teamSlug, configBundleId: bundle.id }, body: values })
        toastSuccess(t('updated', { name: values.name }))
        onClose()
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
    </FormSheet>
  )
}
