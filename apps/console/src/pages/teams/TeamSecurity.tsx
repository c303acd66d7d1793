import { TeamSecurity as Security } from '@crux/contract'
import { zodResolver } from '@hookform/resolvers/zod'
import { useForm } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { z } from 'zod'
import { queryKey, useCall } from '../../api/client.ts'
import { useDenied } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Button } from '../../components/Button.tsx'
import { confirm } from '../../components/confirm.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { SwitchField, TextField } from '../../forms/fields.tsx'
import { applyServerError } from '../../forms/server-error.ts'
import type { Team } from './members.ts'

/** Domains are typed in one line, apart by commas or spaces. */
const Form = z.object({
  secondFactorRequired: z.boolean(),
  allowedDomains: z
    .string()
    .transform((text) => text.split(/[\s,;]+/).filter((part) => part !== ''))
    .pipe(Security.shape.allowedDomains),
})

/** What a team demands of its members. Its owners decide; everybody sees it. */
export function TeamSecurity({ team }: { team: Team }) {
  const { t } = useTranslation(['teams', 'common'])
  const denied = useDenied('teams.security', team.id)
  const { secondFactorRequired, allowedDomains } = team.security
  const form = useForm({
    resolver: zodResolver(Form),
    values: { secondFactorRequired, allowedDomains: allowedDomains.join(', ') },
  })
  const save = useCall('teams.update-security', {
    stale: [queryKey('teams.get'), queryKey('teams.list')],
    onSuccess: () => toastSuccess(t('security.saved')),
    toast: (error) => !applyServerError(form, error),
  })
  const submit = form.handleSubmit(async (body) => {
    const question = {
      title: t('security.confirmTitle'),
      text: t('security.confirmText'),
      action: t('security.confirm'),
    }
    if (body.secondFactorRequired && !secondFactorRequired && !(await confirm(question))) return
    save.mutate({ params: { teamId: team.id }, body })
  })
  return (
    <Box title={t('security.title')}>
      <form noValidate onSubmit={submit} className="grid max-w-xl gap-4 px-3.5 py-3">
        <SwitchField
          form={form}
          name="secondFactorRequired"
          label={t('security.secondFactor')}
          help={t('security.secondFactorHelp')}
          disabled={Boolean(denied)}
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
          disabled={Boolean(denied)}
        />
        <div>
          <Button
            type="submit"
            busy={save.isPending}
            disabledReason={denied ?? (!form.formState.isDirty && t('security.unchanged'))}
          >
            {t('common:save')}
          </Button>
        </div>
      </form>
    </Box>
  )
}
