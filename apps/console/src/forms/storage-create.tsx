import { zodResolver } from '@hookform/resolvers/zod'
import { useNavigate } from '@tanstack/react-router'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { links } from '../routing/links.ts'
import { replaceFormEntry } from '../routing/use-anchor.ts'
import { FormSheet } from './FormShell.tsx'
import { StorageFields } from './storage-fields.tsx'
import { emptyStorage, StorageForm, toStorageWrite } from './storage-values.ts'

/** The storage is saved without a check; its page then shows whether it is reachable. */
export function StorageCreate({ teamSlug, onClose }: { teamSlug: string; onClose: () => void }) {
  const { t } = useTranslation('storages')
  const navigate = useNavigate()
  const form = useForm({ resolver: zodResolver(StorageForm), defaultValues: emptyStorage })
  const create = useCall('storages.create', {
    stale: [queryKey('storages.list'), queryKey('storages.options')],
    onSuccess: (storage) => {
      toastSuccess(t('created', { name: storage.name }))
      return navigate({ ...links.storage(teamSlug, storage.id), ...replaceFormEntry() })
    },
  })
  return (
    <FormSheet
      title={t('form.createTitle')}
      form={form}
      submitLabel={t('form.submit')}
      call={create}
      onClose={onClose}
      onSubmit={(values) => create.mutateAsync({ params: { teamSlug }, body: toStorageWrite(values) })}
    >
      <StorageFields form={form} />
    </FormSheet>
  )
}
