import { zodResolver } from '@hookform/resolvers/zod'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client } from '../../api/client.ts'
import { csrfTokenOf } from '../../api/identity.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { PasswordField, TextField } from '../../forms/fields.tsx'
import { links } from '../../links.ts'
import { AuthCard } from './AuthCard.tsx'
import { FlowGate } from './FlowGate.tsx'
import { goOn } from './signed-in.ts'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/login')
const Login = z.object({ email: z.string().trim().min(1), password: z.string().min(1) })

/** Message of the identity service: the address is not confirmed yet. */
const notVerified = '4000010'

export function LoginPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const navigate = useNavigate()
  const form = useForm({
    resolver: zodResolver(Login),
    defaultValues: { email: search.refresh?.includes('@') ? search.refresh : '', password: '' },
  })
  const goBack = () => goOn(search.return_to, navigate)
  const { opened, flow, send, pending, error, alreadySignedIn } = useFlow({
    kind: 'login',
    id: search.flow,
    query: { refresh: search.refresh && 'true', aal: search.aal },
    submit: async (current, values: z.output<typeof Login>) => {
      const { headers, status, data } = await client.request('auth.login', {
        body: { flow: current.id, method: 'password', csrfToken: csrfTokenOf(current), ...values },
      })
      const elsewhere = status === 201 ? headers.get('location') : null
      if (elsewhere) location.assign(elsewhere)
      return data
    },
    onDone: goBack,
  })

  // Once, when it turns out
  useEffect(() => {
    if (alreadySignedIn) goBack()
  }, [alreadySignedIn])
  useEffect(() => {
    if (error?.error === notVerified) void navigate(links.verify(form.getValues('email')))
  }, [error, form, navigate])

  const hasPassword = flow?.ui.nodes.some((node) => node.group === 'password') ?? true
  return (
    <AuthCard
      title={t('login.title')}
      sub={search.refresh ? t('login.again') : t('to', { host: location.host })}
      foot={
        <>
          {t('login.noAccount')}{' '}
          <TextLink {...links.register()} inline>
            {t('login.create')}
          </TextLink>
        </>
      }
    >
      <FlowGate opened={opened} fields={2}>
        <FormPanel
          form={form}
          submitLabel={t('login.submit')}
          loading={pending}
          error={error?.error === notVerified ? null : error}
          disabledReason={hasPassword ? null : t('login.noPassword')}
          onSubmit={send}
        >
          <TextField
            form={form}
            name="email"
            label={t('login.email')}
            type="email"
            inputMode="email"
            autoComplete="username"
            tall
          />
          <PasswordField
            form={form}
            name="password"
            label={t('login.password')}
            autoComplete="current-password"
            tall
            aside={<TextLink {...links.recovery()}>{t('login.forgot')}</TextLink>}
          />
        </FormPanel>
      </FlowGate>
    </AuthCard>
  )
}
