import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { queryClient, useCall } from '../../api/client.ts'
import { meQuery, rememberTeam, useMe } from '../../api/me.ts'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { toastSuccess } from '../../components/toasts.tsx'
import { describeError, isStatus } from '../../errors/describe-error.ts'
import { FormBanner } from '../../forms/FormShell.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from '../auth/AuthCard.tsx'

const route = getRouteApi('/bare/teams/$teamId/invitation')

/** Join or decline. Users without a valid invitation see only that they have none. */
export function InvitationPage() {
  const { t } = useTranslation('teams')
  const { teamId } = route.useParams()
  const navigate = useNavigate()
  const me = useMe()
  const [expired, setExpired] = useState(false)
  const invitation = me?.invitations.find((one) => one.id === teamId)
  const member = me?.teams.find((one) => one.id === teamId)
  const refreshMe = () => queryClient.fetchQuery({ ...meQuery(), staleTime: 0 })

  const accept = useCall('users.accept-invitation', {
    onSuccess: async () => {
      const { teams } = await refreshMe()
      const joined = teams.find((team) => team.id === teamId)
      if (!joined) return navigate(links.home())
      rememberTeam(joined.slug)
      toastSuccess(t('invitation.joined', { name: joined.name }))
      return navigate(links.dashboard(joined.slug))
    },
    toast: (error) => {
      const over = isStatus(error, 412) && error.property === 'teamId'
      setExpired(over)
      return false
    },
  })
  const decline = useCall('users.decline-invitation', {
    onSuccess: async () => {
      await refreshMe()
      toastSuccess(t('invitation.declined'))
      await navigate(links.home())
    },
  })

  if (member)
    return (
      <AuthCard title={member.name} subtitle={t('invitation.already')}>
        <ButtonLink {...links.dashboard(member.slug)} variant="main" size="lg">
          {t('invitation.open')}
        </ButtonLink>
      </AuthCard>
    )
  if (!invitation || expired)
    return (
      <AuthCard
        title={t(expired ? 'invitation.expiredTitle' : 'invitation.noneTitle')}
        subtitle={t(expired ? 'invitation.expired' : 'invitation.none', { email: me?.user.email ?? '' })}
      >
        <ButtonLink {...links.home()} size="lg">
          {t('invitation.home')}
        </ButtonLink>
      </AuthCard>
    )
  const params = { teamId }
  return (
    <AuthCard
      title={t('invitation.title', { name: invitation.name })}
      subtitle={t('invitation.text', { email: me?.user.email ?? '' })}
    >
      {accept.error && <FormBanner>{describeError(accept.error).text}</FormBanner>}
      <Button variant="main" size="lg" busy={accept.isPending} onClick={() => accept.mutate({ params })}>
        {t('invitation.accept')}
      </Button>
      <Button size="lg" busy={decline.isPending} onClick={() => decline.mutate({ params })}>
        {t('invitation.decline')}
      </Button>
    </AuthCard>
  )
}
