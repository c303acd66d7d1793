import { useTranslation } from 'react-i18next'
import { ButtonLink } from '../../components/Button.tsx'
import { links } from '../../links.ts'
import { AuthCard } from './AuthCard.tsx'

/** Says honestly that recovery is not there yet. */
export function RecoveryPage() {
  const { t } = useTranslation('auth')
  return (
    <AuthCard title={t('recovery.title')} sub={t('recovery.text')}>
      <ButtonLink {...links.login()} size="lg">
        {t('recovery.back')}
      </ButtonLink>
    </AuthCard>
  )
}
