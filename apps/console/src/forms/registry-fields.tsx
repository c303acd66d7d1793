import { type UseFormReturn, useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { ChipsField, IconField, PasswordField, SwitchField, TextAreaField, TextField } from './fields.tsx'
import type { RegistryForm, RegistryFormInput } from './registry-values.ts'

type Props = {
  form: UseFormReturn<RegistryFormInput, unknown, RegistryForm>
  /** The user of stored credentials; null where none are stored. */
  storedUser?: string | null
}

export function RegistryFields({ form, storedUser = null }: Props) {
  const { t } = useTranslation(['registries', 'common'])
  const [type, access, local, change] = useWatch({
    control: form.control,
    name: ['type', 'access', 'local', 'changeCredentials'],
  })
  const onNode = type === 'unchecked' && local
  return (
    <>
      <TextField form={form} name="name" label={t('common:name')} autoComplete="off" />
      <ChipsField
        form={form}
        name="type"
        label={t('form.type')}
        help={type === 'unchecked' ? t('form.unchecked') : t('form.laterHelp')}
        options={[
          { value: 'v2', label: t('type.v2') },
          { value: 'hub', label: t('type.hub') },
          { value: 'unchecked', label: t('type.unchecked') },
        ]}
      />
      {type === 'unchecked' && (
        <SwitchField form={form} name="local" label={t('form.local')} help={t('form.localHelp')} />
      )}
      {type !== 'hub' && !onNode && (
        <TextField
          form={form}
          name="url"
          label={t('form.url')}
          help={t('form.urlHelp')}
          mono
          inputMode="url"
          placeholder="registry.example.com"
        />
      )}
      {type === 'v2' && (
        <TextField
          form={form}
          name="imageNamePrefix"
          label={t('form.imageNamePrefix')}
          help={t('form.imageNamePrefixHelp')}
          mono
          optional
        />
      )}
      {type === 'hub' && (
        <TextField
          form={form}
          name="imageNamePrefix"
          label={t('form.hubPrefix')}
          help={t('form.hubPrefixHelp')}
          mono
          placeholder="library"
        />
      )}
      {!onNode && (
        <ChipsField
          form={form}
          name="access"
          label={t('form.access')}
          options={[
            { value: 'public', label: t('form.public') },
            { value: 'private', label: t('form.private') },
          ]}
          onPick={(value) => {
            // Docker Hub accounts mostly are the prefix itself.
            if (value === 'private' && type === 'hub' && form.getValues('user') === '')
              form.setValue('user', form.getValues('imageNamePrefix'))
          }}
        />
      )}
      {!onNode && access === 'private' && (
        <>
          {storedUser !== null && (
            <div className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
              <span className="flex-1">{t('form.credentialsKept', { user: storedUser })}</span>
              <Button size="sm" onClick={() => form.setValue('changeCredentials', !change, { shouldDirty: true })}>
                {change ? t('form.keepCredentials') : t('form.changeCredentials')}
              </Button>
            </div>
          )}
          {change && (
            <>
              <TextField form={form} name="user" label={t('form.user')} autoComplete="off" mono />
              <PasswordField
                form={form}
                name="token"
                label={t('form.token')}
                help={t('form.tokenHelp')}
                autoComplete="new-password"
              />
            </>
          )}
        </>
      )}
      <TextAreaField form={form} name="description" label={t('common:description')} optional />
      <IconField form={form} name="icon" label={t('common:icon.label')} />
    </>
  )
}
