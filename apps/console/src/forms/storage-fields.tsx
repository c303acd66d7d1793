import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { IconField, PasswordField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import type { StorageForm, StorageFormInput } from './storage-values.ts'

type Props = { form: UseFormReturn<StorageFormInput, unknown, StorageForm>; keysStored?: boolean }

export function StorageFields({ form, keysStored = false }: Props) {
  const { t } = useTranslation(['storages', 'common'])
  const [open, change] = useWatch({ control: form.control, name: ['public', 'changeKeys'] })
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
          <span className="flex-1">{t('form.keysKept')}</span>
          <Button size="sm" onClick={() => form.setValue('changeKeys', !change, { shouldDirty: true })}>
            {change ? t('form.keepKeys') : t('form.changeKeys')}
          </Button>
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
