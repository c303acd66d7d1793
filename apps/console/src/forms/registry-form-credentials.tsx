import type { ResponseOf } from '@crux/contract'
import { FileInput } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { FieldError } from '../components/Field.tsx'
import { ChipsField, PasswordField, TextField } from './fields.tsx'
import type { RegistryFormApi } from './registry-form-location.tsx'
import { isPrivate, needsCredentials } from './registry-values.ts'
import { parseServiceAccountKey } from './service-account-key.ts'

type Props = {
  form: RegistryFormApi
  shown: Parameters<typeof isPrivate>[0]
  registry: ResponseOf<'registries.get'> | undefined
}

const tokenLabels: Partial<Record<Props['shown']['type'], 'form.privateKey' | 'form.accessToken'>> = {
  google: 'form.privateKey',
  gitlab: 'form.accessToken',
  github: 'form.accessToken',
}

/** Public or with credentials; stored ones stay hidden until the user changes them. */
export function RegistryCredentials({ form, shown, registry }: Props) {
  const { t } = useTranslation('registries')
  const { type, changeCredentials } = shown
  if (type === 'unchecked' && shown.local) return null
  return (
    <>
      {!needsCredentials(shown) && (
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
      {isPrivate(shown) && registry?.details.hasCredentials && (
        <div className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
          <span className="min-w-0 flex-1 wrap-anywhere">
            {t('form.credentialsKept', { user: registry.details.user ?? '' })}
          </span>
          <Button
            size="sm"
            onClick={() => form.setValue('changeCredentials', !changeCredentials, { shouldDirty: true })}
          >
            {changeCredentials ? t('form.keepCredentials') : t('form.changeCredentials')}
          </Button>
        </div>
      )}
      {isPrivate(shown) && changeCredentials && (
        <>
          {type === 'google' && <KeyFile form={form} />}
          <TextField
            form={form}
            name="user"
            label={t(type === 'google' ? 'form.serviceAccount' : 'form.user')}
            autoComplete="off"
            mono
          />
          <PasswordField
            form={form}
            name="token"
            label={t(tokenLabels[type] ?? 'form.token')}
            help={t(type === 'gitlab' || type === 'github' ? `form.tokenHelpFor.${type}` : 'form.tokenHelp')}
            autoComplete="new-password"
          />
        </>
      )}
    </>
  )
}

/** Fills account and key from the JSON key file of a service account. The file itself is not sent. */
function KeyFile({ form }: { form: RegistryFormApi }) {
  const { t } = useTranslation('registries')
  const [read, setRead] = useState<{ name: string; isKey: boolean }>()
  async function fill(file: File) {
    const key = file.size < 65_536 ? parseServiceAccountKey(await file.text()) : undefined
    setRead({ name: file.name, isKey: key !== undefined })
    if (!key) return
    form.setValue('user', key.user, { shouldDirty: true, shouldValidate: true })
    form.setValue('token', key.token, { shouldDirty: true, shouldValidate: true })
  }
  return (
    <div className="grid gap-1">
      <label className="inline-flex w-fit cursor-pointer items-center gap-1.5 text-accent hover:underline has-[:focus-visible]:outline-2 has-[:focus-visible]:outline-focus">
        <FileInput aria-hidden />
        {t('form.keyFile')}
        <input
          type="file"
          accept="application/json,.json"
          className="sr-only"
          onChange={(event) => {
            const [file] = event.target.files ?? []
            // The same file may be chosen again after it was corrected.
            event.target.value = ''
            if (file) void fill(file)
          }}
        />
      </label>
      {read?.isKey === false ? (
        <FieldError>{t('form.keyFileWrong', { name: read.name })}</FieldError>
      ) : (
        <p role="status" className="text-small text-ink-2">
          {read ? t('form.keyFileRead', { name: read.name }) : t('form.keyFileHelp')}
        </p>
      )}
    </div>
  )
}
