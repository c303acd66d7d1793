import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client } from '../../api/client.ts'
import { type Flow, fieldValue, getCsrfToken } from '../../api/identity.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { TextField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { afterSignUp } from './after-sign-up.ts'
import { FlowGate } from './FlowGate.tsx'
import { followRedirect } from './follow-redirect.ts'
import { lacksTraits, listProviders } from './providers.ts'
import { continueTo } from './signed-in.ts'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/register-oidc')
const Form = z.object({
  email: z.email(),
  firstName: z.string().trim().min(1).max(16),
  lastName: z.string().trim().max(16),
})

/** Completes the account data that a sign-in provider did not send. An address from the provider cannot be changed. */
export function RegisterOidcPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const navigate = useNavigate()
  const { opened, flow, send, pending, error, alreadySignedIn } = useFlow({
    kind: 'registration',
    id: search.flow,
    submit: (current, values: z.output<typeof Form>) =>
      followRedirect(
        client.request('auth.register', {
          body: {
            flow: current.id,
            csrfToken: getCsrfToken(current),
            method: 'oidc',
            provider: listProviders(current)[0]?.id,
            ...values,
          },
        }),
      ),
    onDone: (answer, { email }) => afterSignUp(answer, { email, returnTo: undefined }, navigate),
  })
  // Once, when it turns out
  useEffect(() => {
    if (alreadySignedIn) continueTo(undefined, navigate)
  }, [alreadySignedIn])
  // Without data from a provider, there is nothing to complete.
  const complete = flow !== undefined && !lacksTraits(flow)
  useEffect(() => {
    if (complete) void navigate({ ...links.register(), replace: true })
  }, [complete, navigate])
  const provider = complete ? undefined : listProviders(flow)[0]
  return (
    <AuthCard
      title={t('oidc.title')}
      subtitle={provider ? t('oidc.text', { name: provider.name }) : t('oidc.plain')}
      foot={<TextLink {...links.login()}>{t('recovery.back')}</TextLink>}
    >
      <FlowGate opened={opened} fields={3}>
        {flow && !complete && <Names flow={flow} pending={pending} error={error} onSubmit={send} />}
      </FlowGate>
    </AuthCard>
  )
}

type NamesProps = {
  flow: Flow<'registration'>
  pending: boolean
  error: Parameters<typeof FormPanel>[0]['error']
  onSubmit: (values: z.output<typeof Form>) => Promise<unknown>
}

function Names({ flow, pending, error, onSubmit }: NamesProps) {
  const { t } = useTranslation('auth')
  const reported = fieldValue(flow, 'traits.email')
  const form = useZodForm(Form, {
    email: reported,
    firstName: fieldValue(flow, 'traits.name.first'),
    lastName: fieldValue(flow, 'traits.name.last'),
  })
  return (
    <FormPanel form={form} submitLabel={t('register.submit')} loading={pending} error={error} onSubmit={onSubmit}>
      <TextField form={form} name="firstName" label={t('register.firstName')} autoComplete="given-name" tall />
      <TextField form={form} name="lastName" label={t('register.lastName')} autoComplete="family-name" optional tall />
      <TextField
        form={form}
        name="email"
        label={t('register.email')}
        type="email"
        autoComplete="email"
        disabled={reported !== ''}
        tall
      />
    </FormPanel>
  )
}
