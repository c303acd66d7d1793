import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { client, queryClient } from '../../api/client.ts'
import { type Flow, getCsrfToken, identityQuery, submitFlow } from '../../api/identity.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { CaptchaBox, useCaptcha } from './Captcha.tsx'
import { CodeForm, EmailForm, Resend } from './CodeStep.tsx'
import { FirstFactor } from './FirstFactor.tsx'
import { FlowGate } from './FlowGate.tsx'
import { followRedirect } from './follow-redirect.ts'
import type { Login } from './login.ts'
import { SecondFactor } from './SecondFactor.tsx'
import { continueTo } from './signed-in.ts'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/login')

/** Message of the identity service: the address is not confirmed yet. */
const notVerified = '4000010'

export function LoginPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const navigate = useNavigate()
  const knownEmail = search.refresh?.includes('@') ? search.refresh : ''
  const [email, setEmail] = useState(knownEmail)
  const [byCode, setByCode] = useState(false)
  const [sentAt, setSentAt] = useState<number | null>(null)
  const goBack = () =>
    search.invitation
      ? continueTo(`/teams/${search.invitation}/invitation`, navigate)
      : continueTo(search.return_to, navigate)

  const captcha = useCaptcha()
  const { opened, flow, send, pending, error, alreadySignedIn } = useFlow({
    kind: 'login',
    id: search.flow,
    query: { refresh: search.refresh && 'true', aal: search.aal },
    submit: (current, values: Login) => submit(current, values, captcha.take()),
    onDone: (answer, values) => {
      if (values.method === 'code' && !values.code && isCodeStep(answer)) {
        setEmail(values.email)
        setSentAt(Date.now())
        return
      }
      return goBack()
    },
  })

  // Runs once when the session is known. A session without its second factor stays on this page.
  useEffect(() => {
    if (!alreadySignedIn) return
    void queryClient
      .fetchQuery({ ...identityQuery(), staleTime: 0 })
      .then(
        (identity) =>
          identity === 'second-factor'
            ? navigate({ to: '/auth/login', search: { ...search, flow: undefined, aal: 'aal2' }, replace: true })
            : goBack(),
        goBack,
      )
  }, [alreadySignedIn])
  useEffect(() => {
    if (error?.error === notVerified) void navigate(links.verify(email))
  }, [error, email, navigate])

  const shown = error?.error === notVerified ? null : error
  const check = <CaptchaBox captcha={captcha} flow={flow} />
  if (flow?.requested_aal === 'aal2')
    return (
      <AuthCard
        title={t('second.title')}
        subtitle={t('second.text')}
        foot={<TextLink {...links.logout()}>{t('verify.logout')}</TextLink>}
      >
        <SecondFactor
          flow={flow}
          pending={pending}
          error={shown}
          send={(fields) => send({ method: 'direct', fields })}
        />
      </AuthCard>
    )
  return (
    <AuthCard
      title={t('login.title')}
      subtitle={
        flow?.state === 'sent_email'
          ? t('login.codeSent', { email })
          : search.refresh
            ? t('login.again')
            : t('to', { host: location.host })
      }
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
        {flow?.state === 'sent_email' ? (
          <>
            <CodeForm
              submitLabel={t('login.submit')}
              pending={pending}
              error={shown}
              onSubmit={(code) => send({ method: 'code', email, code })}
            />
            <Resend sentAt={sentAt} onSend={() => void send({ method: 'code', email }).catch(() => {})} />
          </>
        ) : byCode ? (
          <EmailForm
            email={email}
            pending={pending}
            error={shown}
            check={check}
            onSubmit={(address) => send({ method: 'code', email: address })}
          />
        ) : (
          <FirstFactor
            flow={flow}
            email={knownEmail}
            fixedEmail={knownEmail !== ''}
            pending={pending}
            error={shown}
            check={check}
            send={(values) => {
              if (values.method === 'password') setEmail(values.email)
              return send(values)
            }}
            onCode={(typed) => {
              setEmail(typed)
              setByCode(true)
            }}
          />
        )}
      </FlowGate>
    </AuthCard>
  )
}

async function submit(flow: Flow<'login'>, values: Login, passed: { captcha?: string }): Promise<unknown> {
  if (values.method === 'direct') return submitFlow('login', flow, values.fields)
  return followRedirect(
    client.request('auth.login', { body: { flow: flow.id, csrfToken: getCsrfToken(flow), ...passed, ...values } }),
  )
}

const isCodeStep = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && 'state' in answer && answer.state === 'sent_email'
