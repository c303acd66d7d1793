import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { TextLink } from '../../components/TextLink.tsx'
import { links } from '../../routing/links.ts'
import { AuthCard } from './AuthCard.tsx'
import { PasswordForm } from './PasswordForm.tsx'
import { continueTo } from './signed-in.ts'

/** Sets a password after a recovery or an invitation, before any other page. */
export function NewPasswordPage() {
  const { t } = useTranslation('auth')
  const navigate = useNavigate()
  return (
    <AuthCard
      title={t('newPassword.title')}
      subtitle={t('newPassword.text')}
      foot={<TextLink {...links.logout()}>{t('verify.logout')}</TextLink>}
    >
      <PasswordForm submitLabel={t('newPassword.submit')} returnTo="/" onDone={() => continueTo(undefined, navigate)} />
    </AuthCard>
  )
}
