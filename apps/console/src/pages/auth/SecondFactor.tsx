import type { ApiError } from '@crux/client'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Flow, fieldValue, getNode } from '../../api/identity.ts'
import { Button } from '../../components/Button.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { FormBanner } from '../../forms/FormShell.tsx'
import { CodeForm } from './CodeStep.tsx'
import { Divider } from './ProviderButtons.tsx'
import { proveKey } from './web-authn.ts'

type Fields = Record<string, unknown>
type Props = {
  flow: Flow<'login'>
  pending: boolean
  error: ApiError | null
  send: (fields: Fields) => Promise<unknown>
}

/** The second step of a sign-in with one of the user's factors. */
export function SecondFactor({ flow, pending, error, send }: Props) {
  const { t } = useTranslation('auth')
  const hasTotp = getNode(flow, 'totp_code') !== undefined
  const hasBackup = getNode(flow, 'lookup_secret') !== undefined
  const keyOptions = fieldValue(flow, 'webauthn_login_trigger')
  const [backup, setBackup] = useState(!hasTotp && keyOptions === '')
  const [refused, setRefused] = useState<string | null>(null)

  const useKey = async () => {
    setRefused(null)
    const proof = await proveKey(keyOptions).catch((failed) => setRefused(describeError(failed).text))
    // The service's message on it is shown above the form.
    if (proof) await send({ method: 'webauthn', webauthn_login: proof }).catch(() => {})
  }
  if (!hasTotp && !hasBackup && !keyOptions) return <FormBanner>{t('second.none')}</FormBanner>
  const totpForm = hasTotp && !backup
  return (
    <>
      {keyOptions !== '' && (
        <>
          {!totpForm && !backup && error && <FormBanner>{describeError(error).text}</FormBanner>}
          {refused && <FormBanner>{refused}</FormBanner>}
          <Button size="lg" variant={totpForm || backup ? 'plain' : 'main'} busy={pending} onClick={useKey}>
            {t('second.key')}
          </Button>
          {(totpForm || backup) && <Divider />}
        </>
      )}
      {totpForm && (
        <CodeForm
          key="totp"
          name="totp_code"
          label={t('second.totp')}
          submitLabel={t('second.submit')}
          pending={pending}
          error={error}
          onSubmit={(code) => send({ method: 'totp', totp_code: code })}
        />
      )}
      {backup && (
        <CodeForm
          key="backup"
          name="lookup_secret"
          label={t('second.backup')}
          submitLabel={t('second.submit')}
          letters
          pending={pending}
          error={error}
          onSubmit={(code) => send({ method: 'lookup_secret', lookup_secret: code })}
        />
      )}
      {hasBackup && (hasTotp || keyOptions !== '') && (
        <Button variant="bare" onClick={() => setBackup(!backup)}>
          {t(backup ? 'second.useApp' : 'second.useBackup')}
        </Button>
      )}
    </>
  )
}
