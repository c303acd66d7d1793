import { NewPassword } from '@crux/contract'
import i18n from 'i18next'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { client } from '../../api/client.ts'
import { getCsrfToken } from '../../api/identity.ts'
import { FormPanel } from '../../forms/FormShell.tsx'
import { PasswordField, SwitchField } from '../../forms/fields.tsx'
import { useZodForm } from '../../forms/use-form.ts'
import { FlowGate } from './FlowGate.tsx'
import { followRedirect } from './follow-redirect.ts'
import { useSettingsFlow } from './use-settings-flow.ts'

const Form = z
  .object({
    password: NewPassword,
    repeat: z.string().min(1),
    signOutOthers: z.boolean(),
    revokeTokens: z.boolean(),
  })
  .refine((values) => values.repeat === values.password, {
    path: ['repeat'],
    error: () => i18n.t('auth:register.different'),
  })

type Props = {
  submitLabel: string
  returnTo: string
  /** API tokens of the user that may be revoked with the change. */
  tokens?: number
  onDone: () => unknown
}

/** A new password, typed twice. */
export function PasswordForm({ submitLabel, returnTo, tokens = 0, onDone }: Props) {
  const { t } = useTranslation('auth')
  const form = useZodForm(Form, { password: '', repeat: '', signOutOthers: true, revokeTokens: false })
  const { opened, send, pending, error } = useSettingsFlow({
    returnTo,
    submit: (flow, { password, signOutOthers, revokeTokens }: z.output<typeof Form>) =>
      followRedirect(
        client.request('auth.change-password', {
          body: { flow: flow.id, csrfToken: getCsrfToken(flow), password, signOutOthers, revokeTokens },
        }),
      ),
    onDone,
  })
  return (
    <FlowGate opened={opened} fields={2}>
      <FormPanel form={form} submitLabel={submitLabel} loading={pending} error={error} onSubmit={send}>
        <PasswordField
          form={form}
          name="password"
          label={t('newPassword.password')}
          help={t('register.passwordHelp')}
          autoComplete="new-password"
          tall
        />
        <PasswordField form={form} name="repeat" label={t('register.repeat')} autoComplete="new-password" tall />
        <SwitchField
          form={form}
          name="signOutOthers"
          label={t('newPassword.others')}
          help={t('newPassword.othersHelp')}
        />
        {tokens > 0 && (
          <SwitchField
            form={form}
            name="revokeTokens"
            label={t('newPassword.tokens', { count: tokens })}
            help={t('newPassword.tokensHelp')}
          />
        )}
      </FormPanel>
    </FlowGate>
  )
}
