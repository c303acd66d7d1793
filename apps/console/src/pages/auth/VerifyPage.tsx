import { zodResolver } from '@hookform/resolvers/zod'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client, queryClient } from '../../api/client.ts'
import { csrfTokenOf, identityQuery } from '../../api/identity.ts'
import { Button } from '../../components/Button.tsx'
import { useNow } from '../../components/RelativeTime.tsx'
import { TextLink } from '../../components/TextLink.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { TextField } from '../../forms/fields.tsx'
import { links } from '../../links.ts'
import { AuthCard } from './AuthCard.tsx'
import { FlowGate } from './FlowGate.tsx'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/verify')
/** A code may be sent again after this time (decision 14). */
const resendMs = 30_000

type Verify = { email: string; code?: string }

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
      client.call('auth.verify', { body: { flow: current.id, csrfToken: csrfTokenOf(current), ...values } }),
    onDone: async (_, values) => {
      if (!values.code) {
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
      sub={codeStep ? t('verify.sentText', { email: email || t('verify.email') }) : t('verify.askText')}
      foot={<TextLink {...links.logout()}>{t('verify.logout')}</TextLink>}
    >
      <FlowGate opened={opened} fields={1}>
        {codeStep ? (
          <CodeForm code={search.code} pending={pending} error={error} onSubmit={(code) => send({ email, code })} />
        ) : (
          <EmailForm email={email} pending={pending} error={error} onSubmit={(address) => send({ email: address })} />
        )}
        {codeStep && (
          <Resend sentAt={sentAt} disabled={email === ''} onSend={() => void send({ email }).catch(() => {})} />
        )}
      </FlowGate>
    </AuthCard>
  )
}

type StepProps = {
  pending: boolean
  error: Parameters<typeof FormPanel>[0]['error']
  onSubmit: (value: string) => Promise<unknown>
}

function EmailForm({ email, pending, error, onSubmit }: StepProps & { email: string }) {
  const { t } = useTranslation('auth')
  const form = useForm({ resolver: zodResolver(z.object({ email: z.email() })), defaultValues: { email } })
  return (
    <FormPanel
      form={form}
      submitLabel={t('verify.send')}
      loading={pending}
      error={error}
      onSubmit={(values) => onSubmit(values.email)}
    >
      <TextField
        form={form}
        name="email"
        label={t('verify.email')}
        type="email"
        inputMode="email"
        autoComplete="email"
        tall
      />
    </FormPanel>
  )
}

function CodeForm({ code = '', pending, error, onSubmit }: StepProps & { code?: string }) {
  const { t } = useTranslation('auth')
  const form = useForm({ resolver: zodResolver(z.object({ code: z.string().trim().min(1) })), defaultValues: { code } })
  return (
    <FormPanel
      form={form}
      submitLabel={t('verify.submit')}
      loading={pending}
      error={error}
      onSubmit={(values) => onSubmit(values.code)}
    >
      <TextField
        form={form}
        name="code"
        label={t('verify.code')}
        autoComplete="one-time-code"
        inputMode="numeric"
        mono
        tall
      />
    </FormPanel>
  )
}

function Resend({ sentAt, disabled, onSend }: { sentAt: number | null; disabled: boolean; onSend: () => void }) {
  const { t } = useTranslation('auth')
  const now = useNow()
  const left = sentAt === null ? 0 : Math.ceil((sentAt + resendMs - now) / 1000)
  if (disabled) return null
  return (
    <Button variant="bare" disabledReason={left > 0 ? t('verify.resendIn', { count: left }) : null} onClick={onSend}>
      {left > 0 ? t('verify.resendIn', { count: left }) : t('verify.resend')}
    </Button>
  )
}
