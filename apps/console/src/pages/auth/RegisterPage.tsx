import type { ApiError } from '@crux/client'
import { NewPassword } from '@crux/contract'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import i18n from 'i18next'
import { Mail } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client } from '../../api/client.ts'
import { type Flow, fieldValue, getCsrfToken, submitFlow } from '../../api/identity.ts'
import { Button } from '../../components/Button.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { PasswordField, TextField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { afterSignUp } from './after-sign-up.ts'
import { CaptchaBox, useCaptcha } from './Captcha.tsx'
import { CodeForm, Resend } from './CodeStep.tsx'
import { FlowGate } from './FlowGate.tsx'
import { PasskeySignUp, passkeyOptions } from './PasskeySignUp.tsx'
import { Divider, ProviderButtons } from './ProviderButtons.tsx'
import { lacksTraits, listProviders } from './providers.ts'
import { continueTo } from './signed-in.ts'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/register')

/** The rules that the page checks; the identity service makes the final decision. */
const Register = z
  .object({
    email: z.email(),
    firstName: z.string().trim().min(1).max(16),
    lastName: z.string().trim().max(16),
    password: NewPassword,
    repeat: z.string().min(1),
  })
  .refine((values) => values.repeat === values.password, {
    path: ['repeat'],
    error: () => i18n.t('auth:register.different'),
  })

type SignUp =
  | z.output<typeof Register>
  | (Pick<z.output<typeof Register>, 'email' | 'firstName' | 'lastName'> & { passkey: string })
  | { provider: string }
  | { traits: Traits; code?: string }

/** The request of a sign-up by code, with the field names of the identity service. */
type Traits = { email: string; name: { first: string; last?: string } }

export function RegisterPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const navigate = useNavigate()
  const form = useZodForm(Register, {
    email: search.email ?? '',
    firstName: '',
    lastName: '',
    password: '',
    repeat: '',
  })
  const captcha = useCaptcha()
  const [sentAt, setSentAt] = useState<number | null>(null)
  const { opened, flow, send, pending, error, alreadySignedIn } = useFlow({
    kind: 'registration',
    id: search.flow,
    submit: (current, values: SignUp) => submit(current, values, captcha.take()),
    onDone: (answer, values) => {
      if ('traits' in values && !values.code) {
        setSentAt(Date.now())
        return undefined
      }
      const email = 'email' in values ? values.email : 'traits' in values ? values.traits.email : undefined
      return afterSignUp(answer, { email, returnTo: search.return_to }, navigate)
    },
  })

  // Once, when it turns out
  useEffect(() => {
    if (alreadySignedIn) continueTo(search.return_to, navigate)
  }, [alreadySignedIn])

  // A provider that sent too little data returns here with the data that it sent.
  useEffect(() => {
    if (flow && lacksTraits(flow)) void navigate({ ...links.registerOidc(flow.id), replace: true })
  }, [flow, navigate])

  const providers = listProviders(flow)
  const open = flow?.ui.nodes.some((node) => node.group === 'password') ?? true
  const typedTraits = async (): Promise<Traits | null> => {
    if (!(await form.trigger(['firstName', 'lastName', 'email'], { shouldFocus: true }))) return null
    const { email, firstName, lastName } = form.getValues()
    return { email, name: { first: firstName, ...(lastName === '' ? {} : { last: lastName }) } }
  }
  const byCode = flow?.ui.nodes.some((node) => node.group === 'code') ?? false
  if (flow?.state === 'sent_email')
    return (
      <RegisterCode
        traits={toTraits(flow)}
        pending={pending}
        error={error}
        sentAt={sentAt}
        send={(values) => send(values)}
      />
    )
  return (
    <AuthCard
      title={t('register.title')}
      subtitle={t('register.sub', { host: location.host })}
      foot={
        <>
          {t('register.hasAccount')}{' '}
          <TextLink {...links.login()} inline>
            {t('register.signIn')}
          </TextLink>
        </>
      }
    >
      <FlowGate opened={opened} fields={5} off={t('register.closed')}>
        <FormPanel
          form={form}
          submitLabel={t('register.submit')}
          loading={pending}
          error={error}
          disabledReason={open ? null : t('register.closed')}
          onSubmit={send}
        >
          <div className="grid grid-cols-2 gap-2">
            <TextField form={form} name="firstName" label={t('register.firstName')} autoComplete="given-name" tall />
            <TextField
              form={form}
              name="lastName"
              label={t('register.lastName')}
              autoComplete="family-name"
              optional
              tall
            />
          </div>
          <TextField form={form} name="email" label={t('register.email')} type="email" autoComplete="username" tall />
          <PasswordField
            form={form}
            name="password"
            label={t('register.password')}
            help={t('register.passwordHelp')}
            autoComplete="new-password"
            tall
          />
          <PasswordField form={form} name="repeat" label={t('register.repeat')} autoComplete="new-password" tall />
          <CaptchaBox captcha={captcha} flow={flow} />
        </FormPanel>
        {(providers.length > 0 || passkeyOptions(flow) !== '' || byCode) && <Divider />}
        {byCode && (
          <Button
            size="lg"
            icon={Mail}
            busy={pending}
            onClick={async () => {
              const traits = await typedTraits()
              // The service's message on it is shown in the form.
              if (traits) await send({ traits }).catch(() => {})
            }}
          >
            {t('register.byCode')}
          </Button>
        )}
        <PasskeySignUp
          flow={flow}
          pending={pending}
          check={async () =>
            (await form.trigger(['firstName', 'lastName', 'email'], { shouldFocus: true }))
              ? form.getValues('email')
              : null
          }
          send={(passkey) => {
            const { email, firstName, lastName } = form.getValues()
            return send({ email, firstName, lastName, passkey })
          }}
        />
        <ProviderButtons
          providers={providers}
          pending={pending}
          onPick={(provider) => void send({ provider }).catch(() => {})}
        />
      </FlowGate>
    </AuthCard>
  )
}

function submit(flow: Flow<'registration'>, values: SignUp, { captcha }: { captcha?: string }) {
  const proof = { flow: flow.id, csrfToken: getCsrfToken(flow) }
  if ('traits' in values) {
    const { traits, code } = values
    const passed = captcha ? { transient_payload: { captcha_token: captcha } } : {}
    return submitFlow('registration', flow, {
      method: 'code',
      traits,
      ...(code ? { code } : { ...passed, ...resend(flow) }),
    })
  }
  if ('provider' in values) return submitFlow('registration', flow, { method: 'oidc', provider: values.provider })
  if ('passkey' in values) {
    const { email, firstName: first, lastName: last } = values
    const traits = { email, name: { first, ...(last === '' ? {} : { last }) } }
    const passed = captcha ? { transient_payload: { captcha_token: captcha } } : {}
    return submitFlow('registration', flow, { method: 'passkey', passkey_register: values.passkey, traits, ...passed })
  }
  const { repeat: _, ...account } = values
  return client.call('auth.register', { body: { ...proof, captcha, method: 'password', ...account } })
}

/** The request for another code differs from the first. */
const resend = (flow: Flow<'registration'>) => (flow.state === 'sent_email' ? { resend: 'code' } : {})

/** The flow keeps what the code was sent for, also over a reload. */
function toTraits(flow: Flow<'registration'>): Traits {
  const last = fieldValue(flow, 'traits.name.last')
  return {
    email: fieldValue(flow, 'traits.email'),
    name: { first: fieldValue(flow, 'traits.name.first'), ...(last === '' ? {} : { last }) },
  }
}

type CodeProps = {
  traits: Traits
  pending: boolean
  error: ApiError | null
  sentAt: number | null
  send: (values: { traits: Traits; code?: string }) => Promise<unknown>
}

/** The second step of a sign-up without a password. */
function RegisterCode({ traits, pending, error, sentAt, send }: CodeProps) {
  const { t } = useTranslation('auth')
  return (
    <AuthCard
      title={t('register.title')}
      subtitle={t('register.codeSent', { email: traits.email })}
      foot={
        <TextLink {...links.register()} reloadDocument>
          {t('register.startOver')}
        </TextLink>
      }
    >
      <CodeForm
        submitLabel={t('register.submit')}
        pending={pending}
        error={error}
        onSubmit={(code) => send({ traits, code })}
      />
      <Resend sentAt={sentAt} onSend={() => void send({ traits }).catch(() => {})} />
    </AuthCard>
  )
}
