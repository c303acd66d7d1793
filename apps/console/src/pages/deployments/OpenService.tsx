import { ExternalLink } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { ButtonAnchor } from '../../components/Button.tsx'
import { CopyButton } from '../../components/CopyButton.tsx'
import type { ServiceAddress } from './service-address.ts'

/** Opens a service in a tab of its own, or copies where it is reached. */
export function OpenService({ address, main, size }: { address: ServiceAddress; main?: boolean; size?: 'sm' }) {
  const { t } = useTranslation()
  return (
    <span className="inline-flex min-w-0 items-center">
      {address.open ? (
        <ButtonAnchor
          href={address.url}
          target="_blank"
          rel="noreferrer"
          title={address.url}
          icon={ExternalLink}
          size={size}
          variant={main ? 'main' : 'plain'}
          className="min-w-0"
        >
          <span className="truncate">{t('service.open', { address: address.label })}</span>
        </ButtonAnchor>
      ) : (
        <code className="px-1">{address.url}</code>
      )}
      <CopyButton text={address.url} label={t('service.copy', { address: address.url })} />
    </span>
  )
}
