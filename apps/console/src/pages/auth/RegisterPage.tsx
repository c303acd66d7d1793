import { zodResolver } from '@hookform/resolvers/zod'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import i18n from 'i18next'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client, queryClient } from '../../api/client.ts'
import { csrfTokenOf, type Flow, identityQuery, isWhole, submitFlow } from '../../api/identity.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { PasswordField, TextField } from '../../forms/fields.tsx'
import { links } from '../../links.ts'
import { AuthCard } from './AuthCard.tsx'
import { FlowGate } from './FlowGate.tsx'
import { Or, ProviderButtons } from './ProviderButtons.tsx'
import { providersOf } from './providers.ts'
import { goOn } from './signed-in.ts'
import { useFlow } from './use-flow.ts'
import { verificationFlowOf } from './verification-flow.ts'

const route = getRouteApi('/bare/auth/register')

/** The rules of ui.md U26.1; the identity service has the last word. */
const Register = z
  .object({
    email: z.email(),
    firstName: z.string().trim().min(1).max(16),
    lastName: z.string().trim().max(16),
    password: z.string().min(8).max(70),
    repeat: z.string().min(1),
  })
  .refine((values) => values.repeat === values.password, {
    path: ['repeat'],
    error: () => i18n.t('auth:register.different'),
  })

export function RegisterPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const navigate = useNavigate()
  const form = useForm({
    resolver: zodResolver(Register),
    defaultValues: { email: search.email ?? '', firstName: '', lastName: '', password: '', repeat: '' },
  })
  const { opened, flow, send, pending, error, alreadySignedIn } = useFlow({
    kind: 'registration',
    id: search.flow,
    submit: (current, values: z.output<typeof Register> | { provider: string }) => submit(current, values),
    onDone: async (answer, values) => {
      const email = 'email' in values ? values.email : undefined
      // Where addresses must be confirmed, the code is waiting in the mail; elsewhere the session is there already.
      queryClient.removeQueries({ queryKey: ['identity'] })
      const identity = await queryClient.fetchQuery(identityQuery()).catch(() => null)
      return isWhole(identity) && identity.verified
        ? goOn(search.return_to, navigate)
        : navigate(links.verify(email, verificationFlowOf(answer)))
    },
  })

  // Once, when it turns out
  useEffect(() => {
    if (alreadySignedIn) goOn(search.return_to, navigate)
  }, [alreadySignedIn])

  // A provider that told too little leads back here with what it did tell.
  useEffect(() => {
    if (flow?.active === 'oidc' && providersOf(flow).length > 0)
      void navigate({ ...links.registerOidc(flow.id), replace: true })
  }, [flow, navigate])

  const providers = providersOf(flow)
  const open = flow?.ui.nodes.some((node) => node.group === 'password') ?? true
  return (
    <AuthCard
      title={t('register.title')}
      sub={t('register.sub', { host: location.host })}
      foot={
        <>
          {t('register.hasAccount')}{' '}
          <TextLink {...links.login()} inline>
            {t('register.signIn')}
          </TextLink>
        </>
      }
    >
      <FlowGate opened={opened} fields={5}>
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
          <TextField
            form={form}
            name="email"
            label={t('register.email')}
            type="email"
            inputMode="email"
            autoComplete="username"
            tall
          />
          <PasswordField
            form={form}
            name="password"
            label={t('register.password')}
            help={t('register.passwordHelp')}
            autoComplete="new-password"
            tall
          />
          <PasswordField form={form} name="repeat" label={t('register.repeat')} autoComplete="new-password" tall />
        </FormPanel>
        {providers.length > 0 && <Or />}
        <ProviderButtons
          providers={providers}
          pending={pending}
          onPick={(provider) => void send({ provider }).catch(() => {})}
        />
      </FlowGate>
    </AuthCard>
  )
}

function submit(flow: Flow<'registration'>, values: z.output<typeof Register> | { provider: string }) {
  const proof = { flow: flow.id, csrfToken: csrfTokenOf(flow) }
  if ('provider' in values) return submitFlow('registration', flow, { method: 'oidc', provider: values.provider })
  const { repeat: _, ...account } = values
  return client.call('auth.register', { body: { ...proof, method: 'password', ...account } })
}
