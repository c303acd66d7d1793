import { ConfigBundleCreate } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import type { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { TextAreaField, TextField } from './fields.tsx'

/** A new bundle is empty: its configuration page is the next thing that a person wants. */
export function BundleCreate({ teamSlug, onClose }: { teamSlug: string; onClose: () => void }) {
  const { t } = useTranslation(['bundles', 'common'])
  const navigate = useNavigate()
  const form = useForm<z.input<typeof ConfigBundleCreate>, unknown, z.output<typeof ConfigBundleCreate>>({
    resolver: zodResolver(ConfigBundleCreate),
    defaultValues: { name: '', description: '' },
  })
  const create = useCall('config-bundles.create', {
    stale: [queryKey('config-bundles.list')],
    onSuccess: (bundle) => {
      toastSuccess(t('created', { name: bundle.name }))
      return navigate({ ...links.containerConfiguration(teamSlug, bundle.configId), ...replaceFormEntry() })
    },
  })
  return (
    <FormSheet
      title={t('form.createTitle')}
      description={t('form.createText')}
      form={form}
      submitLabel={t('form.submit')}
      call={create}
      onClose={onClose}
      onSubmit={(values) => create.mutateAsync({ params: { teamSlug }, body: values })}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
    </FormSheet>
  )
}
