import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import type { LoginProvider } from './providers.ts'

type Props = { providers: readonly LoginProvider[]; pending: boolean; onPick: (provider: string) => void }

/** One button for each sign-in provider that the flow offers. */
export function ProviderButtons({ providers, pending, onPick }: Props) {
  const { t } = useTranslation('auth')
  return providers.map(({ id, name }) => (
    <Button key={id} size="lg" busy={pending} onClick={() => onPick(id)}>
      {t('provider.with', { name })}
    </Button>
  ))
}

/** "or", between the ways to sign in. */
export function Divider() {
  const { t } = useTranslation('auth')
  return (
    <div className="flex items-center gap-3 text-small text-ink-2">
      <span aria-hidden className="h-px flex-1 bg-line" />
      {t('or')}
      <span aria-hidden className="h-px flex-1 bg-line" />
    </div>
  )
}
