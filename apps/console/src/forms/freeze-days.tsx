import { Controller, type UseFormReturn } from 'react-hook-form'
import { useTranslation } from 'react-i18next'
import { Field } from '../components/Field.tsx'
import { dayName, isoDays } from './freeze-times.ts'
import type { FreezeWindowInput } from './freeze-window-values.ts'

// biome-ignore lint/suspicious/noExplicitAny: react-hook-form's context type parameter; nothing here reads it
type Props = { form: UseFormReturn<FreezeWindowInput, any, any> }

/** The days of the week on which a window begins, as buttons that stay pressed. */
export function FreezeDays({ form }: Props) {
  const { t } = useTranslation('freeze')
  return (
    <Field label={t('form.days')} group error={form.formState.errors.days?.message}>
      <Controller
        control={form.control}
        name="days"
        render={({ field: { value, onChange } }) => (
          <div className="flex flex-wrap gap-1">
            {isoDays.map((day) => (
              <button
                key={day}
                type="button"
                title={dayName(day, 'long')}
                aria-pressed={value.includes(day)}
                onClick={() => onChange(toggle(value, day))}
                className="h-7 min-w-10 rounded-md border border-line-strong bg-surface px-2 text-small text-ink-2 hover:text-ink aria-pressed:border-accent aria-pressed:bg-accent-soft aria-pressed:font-strong aria-pressed:text-accent"
              >
                {dayName(day)}
              </button>
            ))}
          </div>
        )}
      />
    </Field>
  )
}

const toggle = (days: readonly number[], day: number): number[] =>
  isoDays.filter((one) => (one === day ? !days.includes(day) : days.includes(one)))
