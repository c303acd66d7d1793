import type { KeyboardEvent, ReactNode } from 'react'
import { cx } from './class-names.ts'

export type Chip<T extends string> = { value: T; label: ReactNode; count?: number; disabled?: boolean }
type Props<T extends string> = {
  label: string
  value: T
  onChange: (value: T) => void
  options: readonly Chip<T>[]
  size?: 'sm' | 'md'
  invalid?: boolean
  disabled?: boolean
}

/** One of a few, as a row of buttons; arrow keys move the choice, Tab leaves the row. */
export function Chips<T extends string>({ label, value, onChange, options, size = 'sm', invalid, disabled }: Props<T>) {
  const usable = options.filter((option) => !disabled && !option.disabled)
  // Without a choice, Tab reaches the first option.
  const stop = usable.find((option) => option.value === value) ?? usable[0]

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = steps[event.key]
    const at = stop ? usable.indexOf(stop) : -1
    const next = step === undefined ? undefined : usable[(at + step + usable.length) % usable.length]
    if (!next || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    const places = options.indexOf(next)
    event.currentTarget.querySelectorAll<HTMLElement>('[role=radio]')[places]?.focus()
    onChange(next.value)
  }
  return (
    <div
      role="radiogroup"
      aria-label={label}
      aria-disabled={disabled || undefined}
      onKeyDown={onKeyDown}
      className={cx(
        'inline-flex max-w-full flex-wrap gap-0.5 rounded-md border bg-sunken p-0.5',
        invalid ? 'border-failed' : 'border-line',
      )}
    >
      {options.map((option) => (
        // biome-ignore lint/a11y/useSemanticElements: a native radio shows no content of its own and cannot be styled as a button.
        <button
          key={option.value}
          type="button"
          role="radio"
          aria-checked={option.value === value}
          tabIndex={option === stop ? 0 : -1}
          disabled={disabled || option.disabled}
          onClick={() => option.value !== value && onChange(option.value)}
          className={cx(
            'inline-flex items-center gap-1.5 rounded-sm px-2.5 text-small whitespace-nowrap text-ink-2 hover:text-ink',
            'aria-checked:bg-raised aria-checked:font-strong aria-checked:text-ink aria-checked:ring-1 aria-checked:ring-line disabled:opacity-50',
            size === 'sm' ? 'h-6' : 'h-7',
          )}
        >
          {option.label}
          {option.count !== undefined && <span className="text-ink-3 tabular-nums">{option.count}</span>}
        </button>
      ))}
    </div>
  )
}

const steps: Record<string, 1 | -1> = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }
