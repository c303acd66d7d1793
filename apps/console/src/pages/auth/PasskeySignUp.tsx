import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { type Flow, fieldValue } from '../../api/identity.ts'
import { Button } from '../../components/Button.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { FormBanner } from '../../forms/FormShell.tsx'
import { hasWebAuthn, makeKey } from './web-authn.ts'

type Props = {
  flow: Flow<'registration'> | undefined
  pending: boolean
  /** The address for the new passkey once the form is valid; else null. */
  check: () => Promise<string | null>
  send: (passkey: string) => Promise<unknown>
}

/** Signing up with a passkey in place of a password, where the flow offers it. */
export function PasskeySignUp({ flow, pending, check, send }: Props) {
  const { t } = useTranslation('auth')
  const [refused, setRefused] = useState<string | null>(null)
  const options = passkeyOptions(flow)
  if (options === '') return null
  const signUp = async () => {
    setRefused(null)
    const email = await check()
    if (email === null) return
    const made = await makeKey(options, email).catch((failed) => setRefused(describeError(failed).text))
    // The service's message on it is shown in the form.
    if (made) await send(made).catch(() => {})
  }
  return (
    <>
      {refused && <FormBanner>{refused}</FormBanner>}
      <Button size="lg" icon={Fingerprint} busy={pending} onClick={signUp}>
        {t('register.passkey')}
      </Button>
    </>
  )
}

/** The options of a new passkey; empty if none can be created. */
export function passkeyOptions(flow: Flow<'registration'> | undefined): string {
  const data = fieldValue(flow, 'passkey_create_data')
  if (data === '' || !hasWebAuthn()) return ''
  return JSON.stringify((JSON.parse(data) as { credentialOptions: unknown }).credentialOptions)
}
