import { useTranslation } from 'react-i18next'
import { FlowGate } from '../auth/FlowGate.tsx'
import { AccountHead } from './AccountHead.tsx'
import { AuthenticatorBox } from './AuthenticatorBox.tsx'
import { BackupCodesBox } from './BackupCodesBox.tsx'
import { SecurityKeysBox } from './SecurityKeysBox.tsx'
import { useSettings } from './use-settings.ts'

/** What is asked for after the password: an authenticator's code, a security key, or a backup code. */
export function SecondFactorsPage() {
  const { t } = useTranslation('account')
  const settings = useSettings('/auth/settings/second-factors')
  return (
    <>
      <AccountHead title={t('tab.factors')} />
      <p className="mb-4 max-w-2xl text-ink-2">{t('factors.text')}</p>
      <FlowGate opened={settings.opened} fields={3}>
        <div className="grid gap-4">
          <AuthenticatorBox settings={settings} />
          <SecurityKeysBox settings={settings} />
          <BackupCodesBox settings={settings} />
        </div>
      </FlowGate>
    </>
  )
}
