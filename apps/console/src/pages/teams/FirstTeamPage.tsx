import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { useMe } from '../../api/me.ts'
import { TextLink } from '../../components/TextLink.tsx'
import { TeamForm } from '../../forms/team-form.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from '../auth/AuthCard.tsx'

/** The first page of new users. Users with a team can create another one here too. */
export function FirstTeamPage() {
  const { t } = useTranslation('teams')
  const navigate = useNavigate()
  const me = useMe()
  const logout = <TextLink {...links.logout()}>{t('first.logout')}</TextLink>
  if (me?.teamCreation === false)
    return (
      <AuthCard title={t('first.closedTitle')} subtitle={t('first.closed', { email: me.user.email })} foot={logout} />
    )
  return (
    <AuthCard title={t(me?.teams.length ? 'first.another' : 'first.title')} subtitle={t('first.text')} foot={logout}>
      <TeamForm shape="panel" onClose={() => void navigate(links.home())} />
    </AuthCard>
  )
}
