import { redirect } from '@tanstack/react-router'
import { queryClient } from './api/client.ts'
import { identityQuery } from './api/identity.ts'
import { currentTeam, meQuery, rememberTeam } from './api/me.ts'
import { safeReturn } from './api/session.ts'
import { isStatus } from './errors/describe-error.ts'

/** Every protected page: no session -> login; recovered -> set a new password; address not verified -> verify; else the page. */
export async function requireSession({ location }: { location: { href: string } }) {
  const [identity, me] = await Promise.allSettled([
    queryClient.ensureQueryData(identityQuery()),
    queryClient.ensureQueryData(meQuery()),
  ])
  if (identity.status === 'fulfilled') {
    if (identity.value === null) throw redirect({ to: '/auth/login', search: { return_to: returnTo(location.href) } })
    if (identity.value === 'second-factor')
      throw redirect({ to: '/auth/login', search: { aal: 'aal2', return_to: returnTo(location.href) } })
    if (me.status === 'fulfilled' && me.value.recovered) throw redirect({ to: '/auth/settings/new-password' })
    if (!identity.value.verified) throw redirect({ to: '/auth/verify', search: { email: identity.value.email } })
  }
  if (me.status === 'fulfilled') return
  if (isStatus(me.reason, 401)) throw redirect({ to: '/auth/login', search: { return_to: returnTo(location.href) } })
  throw me.reason
}

/** A team page exists for members only; any other slug leads to the entry, which finds the right place. */
export async function requireTeam({ params }: { params: { teamSlug: string } }) {
  const me = await queryClient.ensureQueryData(meQuery())
  if (!me.teams.some((team) => team.slug === params.teamSlug)) throw redirect({ to: '/', replace: true })
  rememberTeam(params.teamSlug)
}

/** `/`: the current team's dashboard; without teams the first invitation, else the form for a first team. */
export async function startPage(at: { location: { href: string } }): Promise<never> {
  await requireSession(at)
  const me = await queryClient.ensureQueryData(meQuery())
  const team = currentTeam(me.teams)
  if (team) throw redirect({ to: '/$teamSlug/dashboard', params: { teamSlug: team.slug }, replace: true })
  const invitation = me.invitations[0]
  if (invitation) throw redirect({ to: '/teams/$teamId/invitation', params: { teamId: invitation.id }, replace: true })
  throw redirect({ to: '/teams/create', replace: true })
}

const returnTo = (href: string) => {
  const address = safeReturn(href)
  return address === '/' ? undefined : address
}
