import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { toastSuccess } from '../../components/toasts.tsx'
import { links } from '../../routing/links.ts'
import { PasswordForm } from '../auth/PasswordForm.tsx'
import { AccountHead } from './AccountHead.tsx'

export function ChangePasswordPage() {
  const { t } = useTranslation('account')
  const navigate = useNavigate()
  const tokens = useQuery(apiQuery('tokens.list'))
  return (
    <>
      <AccountHead title={t('profile.changePassword')} />
      <div className="max-w-md">
        <PasswordForm
          submitLabel={t('profile.changePassword')}
          tokens={tokens.data?.length}
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
