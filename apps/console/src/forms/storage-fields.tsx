import { useEffect } from 'react'
import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { IconField, PasswordField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import type { StorageForm, StorageFormInput } from './storage-values.ts'

type Props = {
  form: UseFormReturn<
    StorageFormInput,
    unknown,
    StorageForm
  > /** The address that the stored keys were given for; absent where none are stored. */
  keysFor?: string
}

export function StorageFields({ form, keysFor }: Props) {
  const { t } = useTranslation(['storages', 'common'])
  const [open, change, url] = useWatch({ control: form.control, name: ['public', 'changeKeys', 'url'] })
  const keysStored = keysFor !== undefined
  const moved = keysStored && url.trim() !== keysFor
  useEffect(() => {
    if (moved) form.setValue('changeKeys', true, { shouldDirty: true })
  }, [moved, form])
  return (
    <>
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
    </>
  )
}
