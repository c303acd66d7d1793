import { generateSecret } from '@crux/config-editor'
import { Dices } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useWatch } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { Copyable } from '../components/Copyable.tsx'
import { PasswordField } from './fields.tsx'
import { isOtherHost, type NotificationFormApi } from './notification-values.ts'

type Props = {
  form: NotificationFormApi
  /** The masked address for which a secret is stored. */
  storedFor: string | undefined
}

/** The key with which Crux signs what it sends to a webhook. A stored one stays until the user replaces it. */
export function NotificationSecretField({ form, storedFor }: Props) {
  const { t } = useTranslation('notifications')
  const { control } = form
  const [changeSecret, secret, changeUrl, url] = useWatch({
    control,
    name: ['changeSecret', 'secret', 'changeUrl', 'url'],
  })
  const isStored = storedFor !== undefined
  const isMoved = isStored && changeUrl && isOtherHost(url, storedFor)
  useEffect(() => {
    if (isMoved) form.setValue('changeSecret', true, { shouldDirty: true })
  }, [isMoved, form])
  const [generated, setGenerated] = useState('')
  const generate = () => {
    const value = generateSecret()
    setGenerated(value)
    form.setValue('secret', value, { shouldDirty: true, shouldValidate: form.formState.isSubmitted })
  }
  return (
    <div className="grid gap-2">
      {isStored && (
        <div className="flex items-center gap-2 rounded-md bg-sunken px-3 py-2">
          <span className="flex-1">{t(isMoved ? 'form.secretMoved' : 'form.secretKept')}</span>
          {!isMoved && (
            <Button size="sm" onClick={() => form.setValue('changeSecret', !changeSecret, { shouldDirty: true })}>
              {t(changeSecret ? 'form.keepSecret' : 'form.changeSecret')}
            </Button>
          )}
        </div>
      )}
      {(changeSecret || !isStored) && (
        <>
          <PasswordField
            form={form}
            name="secret"
            label={t(isStored ? 'form.newSecret' : 'form.secret')}
            optional={!isStored}
            help={t(isStored ? 'form.newSecretHelp' : 'form.secretHelp')}
            autoComplete="new-password"
            trailing={
              <Button size="sm" icon={Dices} onClick={generate}>
                {t('form.generate')}
              </Button>
            }
          />
          {generated !== '' && generated === secret && (
            <>
              <Copyable label={t('form.generated')} text={generated} />
              <p className="text-small text-ink-2">{t('form.generatedHelp')}</p>
            </>
          )}
        </>
      )}
    </div>
  )
}
