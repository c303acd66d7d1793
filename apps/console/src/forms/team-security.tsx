import { type ResponseOf, TeamSecurity } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../api/client.ts'
import { confirm } from '../components/confirm.tsx'
import { FormSheet } from './FormShell.tsx'
import { SwitchField, TextField } from './fields.tsx'
import { useFormEnd, useZodForm } from './use-form.ts'

/** Domains are typed in one line, apart by commas or spaces. */
const Form = z.object({
  secondFactorRequired: z.boolean(),
  allowedDomains: z
    .string()
    .transform((text) => text.split(/[\s,;]+/).filter((part) => part !== ''))
    .pipe(TeamSecurity.shape.allowedDomains),
})

export function TeamSecurityForm({ team, onClose }: { team: ResponseOf<'teams.get'>; onClose: () => void }) {
  const { t } = useTranslation(['teams', 'common'])
  const { secondFactorRequired, allowedDomains } = team.security
  const { updated } = useFormEnd(onClose)
  const form = useZodForm(Form, { secondFactorRequired, allowedDomains: allowedDomains.join(', ') })
  const save = useCall('teams.update-security', {
    stale: [queryKey('teams.get'), queryKey('teams.list')],
    onSuccess: () => updated(t('security.saved')),
    toast: false,
  })
  const submit = async (body: z.output<typeof Form>) => {
    const question = {
      title: t('security.confirmTitle'),
      text: t('security.confirmText'),
      action: t('security.confirm'),
    }
    if (body.secondFactorRequired && !secondFactorRequired && !(await confirm(question))) return
    await save.mutateAsync({ params: { teamId: team.id }, body })
  }
  return (
    <FormSheet title={t('security.title')} form={form} call={save} onClose={onClose} onSubmit={submit}>
      <SwitchField
        form={form}
        name="secondFactorRequired"
        label={t('security.secondFactor')}
        help={t('security.secondFactorHelp')}
      />
      <TextField
        form={form}
        name="allowedDomains"
        label={t('security.domains')}
        help={t('security.domainsHelp')}
        placeholder="example.com"
        optional
        mono
        autoComplete="off"
      />
    </FormSheet>
  )
}
