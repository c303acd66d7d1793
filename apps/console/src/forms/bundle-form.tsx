import { ConfigBundleCreate, type ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { TextAreaField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; bundle?: ResponseOf<'config-bundles.get'>; onClose: () => void }

/** Creates a bundle, or updates the given one. A new one is empty, so the form leads to its configuration. */
export function BundleForm({ teamSlug, bundle, onClose }: Props) {
  const { t } = useTranslation(['bundles', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const form = useZodForm(ConfigBundleCreate, { name: bundle?.name ?? '', description: bundle?.description ?? '' })
  const stale = [queryKey('config-bundles.list'), queryKey('config-bundles.get')]
  const create = useCall('config-bundles.create', {
    stale,
    onSuccess: ({ name, configId }) =>
      created(links.containerConfiguration(teamSlug, configId), t('created', { name })),
  })
  const update = useCall('config-bundles.update', { stale })
  const shell = bundle
    ? { title: t('form.editTitle', { name: bundle.name }), call: update }
    : { title: t('form.createTitle'), description: t('form.createText'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      onClose={onClose}
      onSubmit={(body) =>
        bundle
          ? update
              .mutateAsync({ params: { teamSlug, configBundleId: bundle.id }, body })
              .then(() => updated(t('updated', { name: body.name })))
          : create.mutateAsync({ params: { teamSlug }, body })
      }
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
    </FormSheet>
  )
}
