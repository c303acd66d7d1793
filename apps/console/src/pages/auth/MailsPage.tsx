import type { ResponseOf } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { useCall } from '../../api/client.ts'
import { Box } from '../../components/Box.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import { RelativeTime } from '../../components/RelativeTime.tsx'
import { isStatus } from '../../errors/describe-error.ts'
import { FormPanel } from '../../forms/FormShell.tsx'
import { PasswordField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { AuthCard } from './AuthCard.tsx'

const Form = z.object({ token: z.string().trim().min(1) })

/** Captured mails of an installation without a mail server, for operators that have its token. */
export function MailsPage() {
  const { t } = useTranslation('auth')
  const form = useZodForm(Form, { token: '' })
  const list = useCall('mails.list', { toast: false })
  if (isStatus(list.error, 404)) return <AuthCard title={t('mails.title')} subtitle={t('mails.off')} />
  if (!list.data)
    return (
      <AuthCard title={t('mails.title')} subtitle={t('mails.text')}>
        <FormPanel
          form={form}
          submitLabel={t('mails.show')}
          loading={list.isPending}
          error={list.error}
          onSubmit={(body) => list.mutateAsync({ body })}
        >
          <PasswordField form={form} name="token" label={t('mails.token')} autoComplete="off" mono tall />
        </FormPanel>
      </AuthCard>
    )
  return (
    <div className="grid w-[640px] max-w-full gap-3.5">
      <h1 className="text-title font-semibold">{t('mails.title')}</h1>
      {list.data.length === 0 ? (
        <p className="text-ink-2">{t('mails.none')}</p>
      ) : (
        list.data.map((mail) => <Mail key={mail.id} mail={mail} />)
      )}
    </div>
  )
}

function Mail({ mail }: { mail: ResponseOf<'mails.list'>[number] }) {
  const { t } = useTranslation('auth')
  // A mail has each code alone on a line, and each link at the start of a line.
  const useful = mail.text.match(/^(?:\d{6}|[A-Z0-9]{8}|https?:\/\/\S+)$/m)?.[0]
  return (
    <Box
      title={mail.subject}
      trailing={mail.to}
      actions={
        <>
          <RelativeTime at={mail.createdAt} />
          {useful && <CopyButton text={useful} label={t('mails.copy')} />}
        </>
      }
    >
      <pre className="px-3.5 py-3 font-sans break-words whitespace-pre-wrap">{mail.text}</pre>
    </Box>
  )
}
