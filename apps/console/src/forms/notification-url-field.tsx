import type { NotificationType } from '@crux/contract'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { TextField } from './fields.tsx'
import type { NotificationFormApi } from './notification-values.ts'

type Props = {
  form: NotificationFormApi
  type: Exclude<NotificationType, 'email'>
  /** The masked address that is stored for this type. */
  storedUrl: string | undefined
}

/** The address of the target. A stored one is shown masked and stays until the user replaces it. */
export function NotificationUrlField({ form, type, storedUrl }: Props) {
  const { t } = useTranslation('notifications')
  const changeUrl = useWatch({ control: form.control, name: 'changeUrl' })
  return (
    <div className="grid gap-2">
      {storedUrl && (
        <div className="grid gap-1">
          <span className="font-strong">{t('form.storedUrl')}</span>
          <div className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
            <code className="min-w-0 flex-1 wrap-anywhere">{storedUrl}</code>
            <Button size="sm" onClick={() => form.setValue('changeUrl', !changeUrl, { shouldDirty: true })}>
              {t(changeUrl ? 'form.keepUrl' : 'form.changeUrl')}
            </Button>
          </div>
        </div>
      )}
      {(changeUrl || !storedUrl) && (
        <TextField
          form={form}
          name="url"
          label={t(storedUrl ? 'form.newUrl' : 'form.url')}
          help={t(`form.urlHelp.${type}`)}
          mono
          inputMode="url"
          autoComplete="off"
        />
      )}
    </div>
  )
}
