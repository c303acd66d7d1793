import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { TextInput } from './Field.tsx'

export type DayRange = { from: Date; to: Date }

/** Whole days: from midnight of the first to 23:59:59.999 of the last. */
export const dayRange = (from: Date, to: Date): DayRange => ({
  from: new Date(from.getFullYear(), from.getMonth(), from.getDate()),
  to: new Date(to.getFullYear(), to.getMonth(), to.getDate(), 23, 59, 59, 999),
})

/** Today and the days before it. */
export function rangeOfDays(before: number, today = new Date()): DayRange {
  return dayRange(new Date(today.getFullYear(), today.getMonth(), today.getDate() - before), today)
}

/** First and last day, with the platform's own calendar. A range with swapped ends is corrected. */
export function DateRange({ value, onChange }: { value: DayRange; onChange: (range: DayRange) => void }) {
  const { t } = useTranslation()
  const change = (side: 'from' | 'to', date: Date) => {
    const next = { ...value, [side]: date }
    onChange(next.from <= next.to ? dayRange(next.from, next.to) : dayRange(date, date))
  }
  return (
    <fieldset aria-label={t('dates.label')} className="flex items-center gap-1.5 text-ink-3">
      <DayInput label={t('dates.from')} value={value.from} onPick={(date) => change('from', date)} />
      <span aria-hidden>-</span>
      <DayInput label={t('dates.to')} value={value.to} onPick={(date) => change('to', date)} />
    </fieldset>
  )
}

/** Long enough for the next digit of a day or a year. */
const typingMs = 800
const firstYear = 1970

/** Typing a date digit by digit produces wrong days on the way (the 3rd, the year 20), so a day counts only after a short delay. */
function DayInput({ label, value, onPick }: { label: string; value: Date; onPick: (date: Date) => void }) {
  const [typed, setTyped] = useState<string | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  const pick = useRef(onPick)
  pick.current = onPick
  useEffect(() => () => clearTimeout(timer.current), [])
  const finish = (text: string | null) => {
    clearTimeout(timer.current)
    setTyped(null)
    const date = text === null ? null : toDay(text)
    if (date) pick.current(date)
  }
  return (
    <TextInput
      type="date"
      aria-label={label}
      value={typed ?? inputText(value)}
      onChange={({ target }) => {
        setTyped(target.value)
        clearTimeout(timer.current)
        if (toDay(target.value)) timer.current = setTimeout(() => finish(target.value), typingMs)
      }}
      onBlur={() => finish(typed)}
      onKeyDown={(event) => event.key === 'Enter' && finish(typed)}
    />
  )
}

function toDay(text: string): Date | null {
  const [year = 0, month = 0, day = 0] = text.split('-').map(Number)
  return year >= firstYear && month > 0 && day > 0 ? new Date(year, month - 1, day) : null
}

const inputText = (date: Date) =>
  `${date.getFullYear()}-${String(date.getMonth() + 1).padStart(2, '0')}-${String(date.getDate()).padStart(2, '0')}`
