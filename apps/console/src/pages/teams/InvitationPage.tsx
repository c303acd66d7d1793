import { useTranslation } from 'react-i18next'
import { ButtonLink } from '../../components/Button.tsx'
import { links } from '../../links.ts'
import { AuthCard } from '../auth/AuthCard.tsx'

export function InvitationPage() {
  const { t } = useTranslation('teams')
  return (
    <AuthCard title={t('invitation.title')} sub={t('invitation.text')}>
      <ButtonLink {...links.teamCreate()} variant="main" size="lg">
        {t('invitation.create')}
      </ButtonLink>
      <ButtonLink {...links.home()} size="lg">
        {t('invitation.home')}
      </ButtonLink>
    </AuthCard>
  )
}
