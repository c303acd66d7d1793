import { InvitationWrite } from '@crux/contract'
import { useTranslation } from 'react-i18next'
import { queryKey, useCall } from '../api/client.ts'
import { toastSuccess } from '../components/toasts.tsx'
import { FormSheet } from './FormShell.tsx'
import { TextField } from './fields.tsx'
import { useZodForm } from './use-form.ts'

type Team = {
  id: string
  name: string
  security: { allowedDomains: string[] }
  invitations?: 'mail' | 'link' | 'none'
}
type Props = { team: Team; onClose: () => void; onLink: (invitation: { email: string; link: string }) => void }

/** Invites one user, by mail or by a link to pass on; the name is used only where the user is new here. */
export function TeamInvite({ team, onClose, onLink }: Props) {
  const { t } = useTranslation(['teams', 'common'])
  const form = useZodForm(InvitationWrite, { email: '', firstName: '', lastName: '' })
  const invite = useCall('teams.invite', {
    stale: [queryKey('teams.get'), queryKey('teams.list')],
    onSuccess: (member) => {
      onClose()
      if (member.invitationLink) onLink({ email: member.email, link: member.invitationLink })
      else toastSuccess(t('invite.sent', { email: member.email }))
    },
    toast: false,
  })
  const domains = team.security.allowedDomains
  return (
    <FormSheet
      title={t('invite.title', { name: team.name })}
      description={t(`invite.text.${team.invitations ?? 'mail'}`)}
      form={form}
      submitLabel={t(team.invitations === 'link' ? 'invite.create' : 'invite.action')}
      call={{ ...invite, denied: invite.denied ?? (team.invitations === 'none' ? t('invite.noMail') : null) }}
      onClose={onClose}
      onSubmit={(body) => invite.mutateAsync({ params: { teamId: team.id }, body })}
    >
      <TextField
        form={form}
        name="email"
        type="email"
        label={t('details.email')}
        help={domains.length > 0 ? t('invite.domains', { domains: domains.join(', ') }) : undefined}
        autoComplete="off"
      />
      <TextField form={form} name="firstName" label={t('invite.firstName')} autoComplete="off" />
      <TextField form={form} name="lastName" label={t('invite.lastName')} optional autoComplete="off" />
    </FormSheet>
  )
}
