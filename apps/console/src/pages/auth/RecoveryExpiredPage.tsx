import { useTranslation } from 'react-i18next'
import { ButtonLink } from '../../components/Button.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'

/** The page for an expired or used link. */
export function RecoveryExpiredPage() {
  const { t } = useTranslation('auth')
  return (
    <AuthCard title={t('recovery.expiredTitle')} subtitle={t('recovery.expired')}>
      <ButtonLink {...links.recovery()} variant="main" size="lg">
        {t('recovery.again')}
      </ButtonLink>
    </AuthCard>
  )
}
