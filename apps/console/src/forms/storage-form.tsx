import type { ResponseOf } from '@crux/contract'
import { useEffect } from 'react'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { Button } from '../components/Button.tsx'
import { links } from '../routing/links.ts'
import { FormSheet } from './FormShell.tsx'
import { IconField, PasswordField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import { emptyStorage, fromStorage, StorageValues, toStorageWrite } from './storage-values.ts'
import { useFormEnd, useZodForm } from './use-form.ts'

type Props = { teamSlug: string; storage?: ResponseOf<'storages.get'>; onClose: () => void }

/** Creates a storage, or updates the given one. It is saved without a check; its page then shows whether it is reachable. */
export function StorageForm({ teamSlug, storage, onClose }: Props) {
  const { t } = useTranslation(['storages', 'common'])
  const { created, updated } = useFormEnd(onClose)
  const form = useZodForm(StorageValues, storage ? fromStorage(storage) : emptyStorage)
  const stale = [queryKey('storages.list'), queryKey('storages.options'), queryKey('storages.get')]
  const create = useCall('storages.create', {
    stale,
    onSuccess: ({ id, name }) => created(links.storage(teamSlug, id), t('created', { name })),
  })
  const update = useCall('storages.update', {
    stale,
    onSuccess: (_, { body: { name } }) => updated(t('updated', { name })),
  })
  const [open, change, url] = useWatch({ control: form.control, name: ['public', 'changeKeys', 'url'] })
  const keysStored = storage?.public === false
  // Stored keys were given for one address and are not sent to another.
  const moved = keysStored && url.trim() !== storage.url
  useEffect(() => {
    if (moved) form.setValue('changeKeys', true, { shouldDirty: true })
  }, [moved, form])
  const shell = storage
    ? { title: t('form.editTitle', { name: storage.name }), call: update }
    : { title: t('form.createTitle'), submitLabel: t('form.submit'), call: create }
  return (
    <FormSheet
      {...shell}
      form={form}
      onClose={onClose}
      onSubmit={(values) => {
        const body = toStorageWrite(values)
        return storage
          ? update.mutateAsync({ params: { teamSlug, storageId: storage.id }, body })
          : create.mutateAsync({ params: { teamSlug }, body })
      }}
    >
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <TextField
        form={form}
        name="url"
        label={t('form.url')}
        help={t('form.urlHelp')}
        mono
        inputMode="url"
        placeholder="s3.example.com"
      />
      <SwitchField
        form={form}
        name="public"
        label={t('form.public')}
        help={open && keysStored ? t('form.publicDrops') : t('form.publicHelp')}
      />
      {!open && keysStored && (
        <div className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
          <span className="flex-1">{t(moved ? 'form.keysMoved' : 'form.keysKept')}</span>
          {!moved && (
            <Button size="sm" onClick={() => form.setValue('changeKeys', !change, { shouldDirty: true })}>
              {change ? t('form.keepKeys') : t('form.changeKeys')}
            </Button>
          )}
        </div>
      )}
      {!open && change && (
        <>
          <TextField form={form} name="accessKey" label={t('form.accessKey')} autoComplete="off" mono />
          <PasswordField
            form={form}
            name="secretKey"
            label={t('form.secretKey')}
            help={t('form.secretKeyHelp')}
            autoComplete="new-password"
          />
        </>
      )}
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <IconField form={form} name="icon" label={t('common:icon.label')} />
    </FormSheet>
  )
}
