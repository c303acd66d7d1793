import { useQuery } from '@tanstack/react-query'
import { useRouter } from '@tanstack/react-router'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { apiQuery } from '../../api/client.ts'
import { useMe } from '../../api/me.ts'
import { Box } from '../../components/Box.tsx'
import { Switch } from '../../components/Switch.tsx'
import { hasConsent, isTrackingRefused, storeConsent } from '../../usage/consent.ts'

/** The consent to usage statistics, off until it is given; not shown where the installation sends none. */
export function UsageSwitch() {
  const { t } = useTranslation('account')
  const router = useRouter()
  const me = useMe()
  const { data } = useQuery({ ...apiQuery('quality-assurance.get'), staleTime: 60_000 })
  const [, showAgain] = useState(0)
  if (!me || !data?.host) return null
  const { id } = me.user
  const isRefused = isTrackingRefused()

  const change = async (consent: boolean) => {
    storeConsent(id, consent)
    showAgain((count) => count + 1)
    const { startUsage, stopUsage } = await import('../../usage/usage.ts')
    // A switch that was pressed again meanwhile counts.
    if (hasConsent(id)) startUsage(router)
    else stopUsage()
  }
  return (
    <Box>
      {/* biome-ignore lint/a11y/noLabelWithoutControl: the switch inside is a labelable button */}
      <label className="flex items-center gap-3 px-3.5 py-3">
        <Switch checked={hasConsent(id)} disabled={isRefused} onChange={(consent) => void change(consent)} />
        <span className="min-w-0">
          <span className="font-strong">{t('profile.usage')}</span>
          <span className="block text-ink-2 wrap-anywhere">
            {t('profile.usageHelp', { host: new URL(data.host).host })}
          </span>
          {isRefused && <span className="block text-ink-2">{t('profile.usageRefused')}</span>}
        </span>
      </label>
    </Box>
  )
}
