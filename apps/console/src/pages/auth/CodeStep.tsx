import type { ApiError } from '@crux/client'
import { type ReactNode, useEffect } from 'react'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { Button } from '../../components/Button.tsx'
import { useNow } from '../../components/RelativeTime.tsx'
import { FormPanel } from '../../forms/FormShell.tsx'
import { TextField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'

/** A code may be requested again after this time, which limits the mail that one address gets. */
const resendMs = 30_000

type StepProps = { pending: boolean; error: ApiError | null; onSubmit: (value: string) => Promise<unknown> }

/** Asks where a code is to be sent. */
export function EmailForm({
  email,
  pending,
  error,
  check,
  onSubmit,
}: StepProps & {
  email: string
  /** The captcha below the address, if required. */
  check?: ReactNode
}) {
  const { t } = useTranslation('auth')
  const form = useZodForm(z.object({ email: z.email() }), { email })
  const { setFocus } = form
  useEffect(() => setFocus('email'), [setFocus])
  return (
    <FormPanel
      form={form}
      submitLabel={t('code.send')}
      loading={pending}
      error={error}
      onSubmit={(values) => onSubmit(values.email)}
    >
      <TextField form={form} name="email" label={t('code.email')} type="email" autoComplete="username" tall />
      {check}
    </FormPanel>
  )
}

/** Asks for a code: one that was mailed, one of an authenticator, one of the backup codes. */
export function CodeForm({
  code = '',
  name = 'code',
  label,
  submitLabel,
  letters,
  pending,
  error,
  onSubmit,
}: StepProps & {
  code?: string
  /** The field's name in the flow, where its errors belong. */
  name?: 'code' | 'totp_code' | 'lookup_secret'
  label?: string
  submitLabel: string
  /** Whether the code has letters as well as digits. */
  letters?: boolean
}) {
  const { t } = useTranslation('auth')
  const form = useZodForm(z.object({ code: z.string().trim().min(1) }), { code })
  const { setFocus } = form
  // The button that led here is gone, and the focus with it.
  useEffect(() => setFocus('code'), [setFocus])
  return (
    <FormPanel
      form={form}
      submitLabel={submitLabel}
      loading={pending}
      error={error}
      fields={{ [name]: 'code' }}
      onSubmit={(values) => onSubmit(values.code.replaceAll(' ', ''))}
    >
      <TextField
        form={form}
        name="code"
        label={label ?? t('code.code')}
        autoComplete="one-time-code"
        inputMode={letters ? undefined : 'numeric'}
        mono
        tall
      />
    </FormPanel>
  )
}

/** Sends the code once more, after a pause. */
export function Resend({ sentAt, onSend }: { sentAt: number | null; onSend: () => void }) {
  const { t } = useTranslation('auth')
  const now = useNow()
  const left = sentAt === null ? 0 : Math.ceil((sentAt + resendMs - now) / 1000)
  return (
    <Button variant="bare" disabledReason={left > 0 ? t('code.resendIn', { count: left }) : null} onClick={onSend}>
      {left > 0 ? t('code.resendIn', { count: left }) : t('code.resend')}
    </Button>
  )
}
