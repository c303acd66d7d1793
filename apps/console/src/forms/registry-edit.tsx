import type { ResponseOf } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { RegistryFields } from './registry-fields.tsx'
import { fromRegistry, RegistryForm, registryErrorFields, toRegistryWrite } from './registry-values.ts'

export function RegistryEdit({
  teamSlug,
  registry,
  onClose,
}: {
  teamSlug: string
  registry: ResponseOf<'registries.get'>
  onClose: () => void
}) {
  const { t } = useTranslation('registries')
  const form = useForm({ resolver: zodResolver(RegistryForm), defaultValues: fromRegistry(registry) })
  const update = useCall('registries.update', {
    stale: [queryKey('registries.list'), queryKey('registries.get')],
    onSuccess: (_, { body }) => {
      toastSuccess(t('updated', { name: body.name }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={t('form.editTitle', { name: registry.name })}
      form={form}
      submitLabel={t('form.submitEdit')}
      call={update}
      fields={registryErrorFields}
      onClose={onClose}
      onSubmit={(values) =>
        update.mutateAsync({ params: { teamSlug, registryId: registry.id }, body: toRegistryWrite(values) })
      }
    >
      <RegistryFields form={form} storedUser={registry.details.hasCredentials ? (registry.details.user ?? '') : null} />
    </FormSheet>
  )
}
