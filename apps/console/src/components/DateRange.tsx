import { useTranslation } from 'react-i18next'
import { TextInput } from './Field.tsx'

export type DayRange = { from: Date; to: Date }

/** Whole days: from midnight of the first to 23:59:59.999 of the last (ui.md U6). */
export const dayRange = (from: Date, to: Date): DayRange => ({
  from: new Date(from.getFullYear(), from.getMonth(), from.getDate()),
  to: new Date(to.getFullYear(), to.getMonth(), to.getDate(), 23, 59, 59, 999),
})

/** Today and the days before it. */
export function rangeOfDays(before: number, today = new Date()): DayRange {
  return dayRange(new Date(today.getFullYear(), today.getMonth(), today.getDate() - before), today)
}

/** First and last day, with the platform's own calendar. A range turned round is put right. */
export function DateRange({ value, onChange }: { value: DayRange; onChange: (range: DayRange) => void }) {
  const { t } = useTranslation()
  const change = (side: 'from' | 'to', text: string) => {
    const [year, month, day] = text.split('-').map(Number)
    if (!year || !month || !day) return
    const date = new Date(year, month - 1, day)
    const next = { ...value, [side]: date }
    onChange(next.from <= next.to ? dayRange(next.from, next.to) : dayRange(date, date))
  }
  return (
    <fieldset aria-label={t('dates.label')} className="flex items-center gap-1.5 text-ink-3">
      <TextInput
        type="date"
        aria-label={t('dates.from')}
        value={inputText(value.from)}
        onChange={(event) => change('from', event.target.value)}
      />
      <span aria-hidden>-</span>
      <TextInput
        type="date"
        aria-label={t('dates.to')}
        value={inputText(value.to)}
        onChange={(event) => change('to', event.target.value)}
      />
    </fieldset>
  )
}

const inputText = (date: Date) =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`
