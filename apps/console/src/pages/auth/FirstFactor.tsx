import type { ApiError } from '@crux/client'
import { Fingerprint, Mail } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { type Flow, fieldValue } from '../../api/identity.ts'
import { Button } from '../../components/Button.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { describeError } from '../../errors/describe-error.ts'
import { FormBanner, FormPanel } from '../../forms/FormShell.tsx'
import { PasswordField, TextField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { links } from '../../routing/links.ts'
import type { Login } from './login.ts'
import { Divider, ProviderButtons } from './ProviderButtons.tsx'
import { listProviders } from './providers.ts'
import { hasWebAuthn, proveKey } from './web-authn.ts'

const Form = z.object({ email: z.string().trim().min(1), password: z.string().min(1) })

/** Message of the identity service: address or password is wrong. */
const wrongPassword = '4000006'

type Props = {
  flow: Flow<'login'> | undefined
  email: string
  /** When users confirm their identity, the address is not asked again. */
  fixedEmail: boolean
  pending: boolean
  error: ApiError | null
  send: (values: Login) => Promise<unknown>
  onCode: (email: string) => void
  /** The captcha below the password, if required. */
  check?: ReactNode
}

/** All sign-in methods that the flow offers: password, passkey, a code by mail, providers. */
export function FirstFactor({ flow, email, fixedEmail, pending, error, send, onCode, check }: Props) {
  const { t } = useTranslation('auth')
  const form = useZodForm(Form, { email, password: '' })
  const [refused, setRefused] = useState<string | null>(null)
  const { setFocus } = form
  // Users mostly have to correct the password.
  useEffect(() => {
    if (error?.error === wrongPassword) setFocus('password', { shouldSelect: true })
  }, [error, setFocus])
  const offers = (group: string) => flow?.ui.nodes.some((node) => node.group === group) ?? false
  const providers = listProviders(flow)
  const challenge = hasWebAuthn() ? fieldValue(flow, 'passkey_challenge') : ''

  const usePasskey = async () => {
    setRefused(null)
    const proof = await proveKey(challenge).catch((failed) => setRefused(describeError(failed).text))
    // The service's message on it is shown above the form.
    if (proof) await send({ method: 'direct', fields: { method: 'passkey', passkey_login: proof } }).catch(() => {})
  }
  const others = challenge !== '' || offers('code') || providers.length > 0
  return (
    <>
      {offers('password') && (
        <FormPanel
          form={form}
          submitLabel={t('login.submit')}
          loading={pending}
          error={error}
          onSubmit={(values) => send({ method: 'password', ...values })}
        >
          <TextField
            form={form}
            name="email"
            label={t('login.email')}
            type="email"
            autoComplete="username webauthn"
            disabled={fixedEmail}
            tall
          />
          <PasswordField
            form={form}
            name="password"
            label={t('login.password')}
            autoComplete="current-password"
            tall
            trailing={<TextLink {...links.recovery()}>{t('login.forgot')}</TextLink>}
          />
          {check}
        </FormPanel>
      )}
      {offers('password') && others && <Divider />}
      {!offers('password') && error && <FormBanner>{describeError(error).text}</FormBanner>}
      {refused && <FormBanner>{refused}</FormBanner>}
      {challenge !== '' && (
        <Button size="lg" icon={Fingerprint} busy={pending} onClick={usePasskey}>
          {t('login.passkey')}
        </Button>
      )}
      {offers('code') && (
        <Button size="lg" icon={Mail} onClick={() => onCode(form.getValues('email'))}>
          {t('login.code')}
        </Button>
      )}
      <ProviderButtons
        providers={providers}
        pending={pending}
        onPick={(provider) => void send({ method: 'oidc', provider }).catch(() => {})}
      />
    </>
  )
}
