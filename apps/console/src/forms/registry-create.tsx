import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { RegistryFields } from './registry-fields.tsx'
import { emptyRegistry, RegistryForm, registryErrorFields, toRegistryWrite } from './registry-values.ts'

/** Connecting a registry: the server reaches it before anything is stored, so a wrong address or credential comes back at its field. */
export function RegistryCreate({ teamSlug, onClose }: { teamSlug: string; onClose: () => void }) {
  const { t } = useTranslation('registries')
  const navigate = useNavigate()
  const form = useForm({ resolver: zodResolver(RegistryForm), defaultValues: emptyRegistry })
  const create = useCall('registries.create', {
    stale: [queryKey('registries.list'), queryKey('dashboard.get')],
    onSuccess: (registry) => {
      toastSuccess(t('created', { name: registry.name }))
      return navigate({ ...links.registry(teamSlug, registry.id), ...replaceFormEntry() })
    },
  })
  return (
    <FormSheet
      title={t('form.createTitle')}
      form={form}
      submitLabel={t('form.submit')}
      call={create}
      fields={registryErrorFields}
      onClose={onClose}
      onSubmit={(values) => create.mutateAsync({ params: { teamSlug }, body: toRegistryWrite(values) })}
    >
      <RegistryFields form={form} />
    </FormSheet>
  )
}
