import { useTranslation } from 'react-i18next'
import { DayBars } from '../../components/DayBars.tsx'
import { type DayCount, toBars } from './day-bars.ts'

type Props = {
  range: { from: Date; to: Date }
  days: readonly DayCount[] | undefined
  onPick: (day: { from: string; to: string }) => void
}

/** How much happened on each day; a bar is a button that narrows the list to its day. */
export function EntriesPerDay({ range, days, onPick }: Props) {
  const { t, i18n } = useTranslation('audit')
  const bars = toBars(range, days ?? [])?.map((bar) => ({ ...bar, good: bar.accepted, bad: bar.refused }))
  if (!bars || bars.length < 2) return null
  const format = new Intl.DateTimeFormat(i18n.language, { weekday: 'short', day: 'numeric', month: 'short' })
  return (
    <section aria-label={t('bars.label')} className="mb-3 rounded-box border border-line bg-surface px-3 pt-3 pb-1.5">
      <DayBars
        label={t('bars.label')}
        bars={bars}
        onPick={onPick}
        describe={({ from, good, bad }) =>
          t('bars.day', { day: format.format(new Date(from)), count: good + bad, refused: bad })
        }
      />
    </section>
  )
}
