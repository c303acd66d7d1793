import { useMutation } from '@tanstack/react-query'
import { getRouteApi, useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { client } from '../../api/client.ts'
import { Button, ButtonLink } from '../../components/Button.tsx'
import { describeError, isStatus } from '../../errors/describe-error.ts'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { followRedirect } from './follow-redirect.ts'

const route = getRouteApi('/bare/auth/create-account')

/**
 * The page behind an invitation link for new users: redeems its code, which signs in and joins the team, and continues with the
 * first password. It waits for a click, because mail scanners open links. An expired code is renewed while the invitation
 * is valid.
 */
export function CreateAccountPage() {
  const { t } = useTranslation('auth')
  const { flow, code, team, invitation } = route.useSearch()
  const navigate = useNavigate()
  const join = useMutation({
    mutationFn: async () => {
      if (!team) throw new Error(t('account.incomplete'))
      const redeem = (proof: { flow: string; code: string }) =>
        followRedirect(client.request('auth.create-account', { body: { ...proof, team } }))
      try {
        if (flow && code) return await redeem({ flow, code })
      } catch (error) {
        // 412: the invitation itself is over.
        if (!invitation || isStatus(error, 412) || isStatus(error, 429)) throw error
      }
      if (!invitation) throw new Error(t('account.incomplete'))
      try {
        return await redeem(await client.call('auth.renew-invitation-code', { body: { team, invitation } }))
      } catch (error) {
        // Users that have an account by now sign in and find the invitation there.
        if (!isStatus(error, 412) || error.value !== 'signIn') throw error
        return navigate({ ...links.login(), search: { invitation: team } })
      }
    },
  })
  const { mutate } = join
  if (join.isError)
    return (
      <AuthCard title={t('account.failed')} subtitle={describeFailure(join.error)}>
        {team && ((flow && code) || invitation) && (
          <Button size="lg" onClick={() => mutate()}>
            {t('account.retry')}
          </Button>
        )}
        <ButtonLink {...links.login()} size="lg">
          {t('recovery.back')}
        </ButtonLink>
      </AuthCard>
    )
  return (
    <AuthCard title={t('account.title')} subtitle={t('account.text')}>
      <Button variant="main" size="lg" busy={join.isPending} onClick={() => mutate()}>
        {t('account.join')}
      </Button>
    </AuthCard>
  )
}

const describeFailure = (error: unknown): string =>
  error instanceof Error && error.constructor === Error ? error.message : describeError(error).text
