import { getRouteApi } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { client } from '../../api/client.ts'
import { getCsrfToken } from '../../api/identity.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { CaptchaBox, useCaptcha } from './Captcha.tsx'
import { CodeForm, EmailForm, Resend } from './CodeStep.tsx'
import { FlowGate } from './FlowGate.tsx'
import { followRedirect } from './follow-redirect.ts'
import { useFlow } from './use-flow.ts'

const route = getRouteApi('/bare/auth/recovery')

type Recovery = { email: string; code?: string }

/** First the address, then the code that was mailed to it; the right code leads to a new password. */
export function RecoveryPage() {
  const { t } = useTranslation('auth')
  const search = route.useSearch()
  const [email, setEmail] = useState(search.email ?? '')
  const [sentAt, setSentAt] = useState<number | null>(null)
  const captcha = useCaptcha()
  const { opened, flow, send, pending, error, alreadySignedIn } = useFlow({
    kind: 'recovery',
    id: search.flow,
    submit: (current, values: Recovery) =>
      followRedirect(
        client.request('auth.recovery', {
          body: {
            flow: current.id,
            csrfToken: getCsrfToken(current),
            ...captcha.take(),
            ...(values.code ? { code: values.code } : { email: values.email }),
          },
        }),
      ),
    onDone: (_, values) => {
      setEmail(values.email)
      setSentAt(Date.now())
    },
  })
  if (alreadySignedIn)
    return (
      <AuthCard title={t('recovery.title')} subtitle={t('recovery.signedIn')}>
        <TextLink {...links.changePassword()}>{t('recovery.change')}</TextLink>
      </AuthCard>
    )
  const codeStep = flow?.state === 'sent_email'
  return (
    <AuthCard
      title={t('recovery.title')}
      subtitle={
        opened.isError
          ? undefined
          : codeStep
            ? t('recovery.sentText', { email: email || t('code.email') })
            : t('recovery.text')
      }
      foot={<TextLink {...links.login()}>{t('recovery.back')}</TextLink>}
    >
      <FlowGate opened={opened} fields={1} off={t('recovery.off')}>
        {codeStep ? (
          <>
            <CodeForm
              code={search.code}
              submitLabel={t('recovery.submit')}
              pending={pending}
              error={error}
              onSubmit={(code) => send({ email, code })}
            />
            {email !== '' && <Resend sentAt={sentAt} onSend={() => void send({ email }).catch(() => {})} />}
          </>
        ) : (
          <EmailForm
            email={email}
            pending={pending}
            error={error}
            check={<CaptchaBox captcha={captcha} flow={flow} />}
            onSubmit={(address) => send({ email: address })}
          />
        )}
      </FlowGate>
    </AuthCard>
  )
}
