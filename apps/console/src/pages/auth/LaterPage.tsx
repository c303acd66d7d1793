import { useTranslation } from 'react-i18next'
import { ButtonLink } from '../../components/Button.tsx'
import { links } from '../../links.ts'
import { AuthCard } from './AuthCard.tsx'

/** Sign-in pages of methods that are planned: recovery's end, external providers, accounts from invitations. */
export function LaterPage() {
  const { t } = useTranslation(['planned', 'auth'])
  return (
    <AuthCard title={t('mark')} sub={t('auth:later.text')}>
      <ButtonLink {...links.login()} size="lg">
        {t('auth:later.back')}
      </ButtonLink>
    </AuthCard>
  )
}
