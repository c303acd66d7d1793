import { ShieldAlert } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { links } from '../routing/links.ts'
import { ButtonLink } from './Button.tsx'
import { EmptyState } from './EmptyState.tsx'

/** The team requires a second factor, and this session has none. */
export function FactorNeeded() {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon={ShieldAlert}
      title={t('factor.title')}
      text={t('factor.text')}
      action={
        <ButtonLink {...links.secondFactors()} variant="main">
          {t('factor.action')}
        </ButtonLink>
      }
    />
  )
}
