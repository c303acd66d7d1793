import { useTranslation } from 'react-i18next'
import { toMinute } from '../../forms/freeze-times.ts'
import type { BoardEnvironment } from './board.ts'

type Freeze = NonNullable<BoardEnvironment['freeze']>

/** "Frozen until 2026-12-24 18:00", or that no end is known. */
export function useFreezeEnd() {
  const { t } = useTranslation('packages')
  return ({ until, openEnded }: Freeze): string =>
    openEnded ? t('freeze.open') : t('freeze.until', { time: toMinute(until) })
}
