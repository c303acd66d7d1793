import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { client, queryClient } from '../../api/client.ts'
import { fieldValue, getCsrfToken, identityQuery } from '../../api/identity.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { CodeForm, EmailForm, Resend } from './CodeStep.tsx'
import { FlowGate } from './FlowGate.tsx'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/verify')
/** A link from a mail has only the code. */
type Verify = { email: string } | { code: string }

/** First the address, then the code that was mailed to it. A link from the mail opens the second step with the code filled in. */
export function VerifyPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const navigate = useNavigate()
  const [email, setEmail] = useState(search.email ?? '')
  const [sentAt, setSentAt] = useState<number | null>(null)
  const { opened, flow, send, pending, error } = useFlow({
    kind: 'verification',
    id: search.flow,
    submit: (current, values: Verify) =>
      client.call('auth.verify', { body: { flow: current.id, csrfToken: getCsrfToken(current), ...values } }),
    onDone: async (_, values) => {
      if ('email' in values) {
        setEmail(values.email)
        setSentAt(Date.now())
        return
      }
      toastSuccess(t('verify.done'))
      queryClient.clear()
      const identity = await queryClient.fetchQuery(identityQuery()).catch(() => null)
      return navigate(identity ? links.home() : links.login())
    },
  })
  // A registration has sent the first code itself and names its flow; without a flow the known address gets one at once.
  const asked = useRef(false)
  useEffect(() => {
    if (!flow || asked.current || flow.state !== 'choose_method' || !search.email) return
    asked.current = true
    void send({ email: search.email }).catch(() => {})
  }, [flow, search.email, send])

  const codeStep = flow?.state === 'sent_email' || sentAt !== null
  return (
    <AuthCard
      title={t('verify.title')}
      subtitle={
        opened.isError
          ? undefined
          : codeStep
            ? t('verify.sentText', { email: email || t('code.email') })
            : t('verify.askText')
      }
      foot={<TextLink {...links.logout()}>{t('verify.logout')}</TextLink>}
    >
      <FlowGate opened={opened} fields={1} off={t('verify.off')}>
        {codeStep ? (
          <CodeForm
            code={search.code ?? fieldValue(flow, 'code')}
            submitLabel={t('verify.submit')}
            pending={pending}
            error={error}
            onSubmit={(code) => send({ code })}
          />
        ) : (
          <EmailForm email={email} pending={pending} error={error} onSubmit={(address) => send({ email: address })} />
        )}
        {codeStep && email !== '' && <Resend sentAt={sentAt} onSend={() => void send({ email }).catch(() => {})} />}
      </FlowGate>
    </AuthCard>
  )
}
