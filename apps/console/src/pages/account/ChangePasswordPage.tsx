import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { toastSuccess } from '../../components/toasts.tsx'
import { links } from '../../links.ts'
import { AccountHead } from './AccountHead.tsx'
import { PasswordForm } from './PasswordForm.tsx'

export function ChangePasswordPage() {
  const { t } = useTranslation('account')
  const navigate = useNavigate()
  return (
    <>
      <AccountHead title={t('profile.changePassword')} />
      <div className="max-w-md">
        <PasswordForm
          submitLabel={t('profile.changePassword')}
          returnTo="/auth/settings/change-password"
          onDone={() => {
            toastSuccess(t('profile.passwordChanged'))
            return navigate(links.settings())
          }}
        />
      </div>
    </>
  )
}
