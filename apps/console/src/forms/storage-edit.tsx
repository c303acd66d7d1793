import type { ResponseOf } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { StorageFields } from './storage-fields.tsx'
import { fromStorage, StorageForm, toStorageWrite } from './storage-values.ts'

type Props = { teamSlug: string; storage: ResponseOf<'storages.get'>; onClose: () => void }

export function StorageEdit({ teamSlug, storage, onClose }: Props) {
  const { t } = useTranslation(['storages', 'common'])
  const form = useForm({ resolver: zodResolver(StorageForm), defaultValues: fromStorage(storage) })
  const update = useCall('storages.update', {
    stale: [queryKey('storages.list'), queryKey('storages.options'), queryKey('storages.get')],
    onSuccess: (_, { body }) => {
      toastSuccess(t('updated', { name: body.name }))
      onClose()
    },
  })
  return (
    <FormSheet
      title={t('form.editTitle', { name: storage.name })}
      form={form}
      call={update}
      onClose={onClose}
      onSubmit={(values) =>
        update.mutateAsync({ params: { teamSlug, storageId: storage.id }, body: toStorageWrite(values) })
      }
    >
      <StorageFields form={form} keysFor={storage.public ? undefined : storage.url} />
    </FormSheet>
  )
}
