import { FilterX } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { EmptyState } from '../components/EmptyState.tsx'

/** A list whose filter hides everything. */
export function NoMatches({ total, onReset }: { total: number; onReset: () => void }) {
  const { t } = useTranslation()
  return (
    <EmptyState
      icon={FilterX}
      title={t('filter.nothing')}
      text={t('filter.nothingText', { count: total })}
      action={<Button onClick={onReset}>{t('filter.reset')}</Button>}
    />
  )
}
