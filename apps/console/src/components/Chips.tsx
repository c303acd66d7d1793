import { RadioGroup } from 'radix-ui'
import type { ReactNode } from 'react'
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

/** One of a few, as a row of buttons; arrow keys move. */
export function Chips<T extends string>({ label, value, onChange, options, size = 'sm', invalid, disabled }: Props<T>) {
  return (
    <RadioGroup.Root
      aria-label={label}
      value={value}
      disabled={disabled}
      onValueChange={(next) => {
        // Radix speaks of strings; only our own options can come back.
        const option = options.find((candidate) => candidate.value === next)
        if (option) onChange(option.value)
      }}
      orientation="horizontal"
      className={cx(
        'inline-flex max-w-full flex-wrap gap-0.5 rounded-md border bg-sunken p-0.5',
        invalid ? 'border-failed' : 'border-line',
      )}
    >
      {options.map((option) => (
        <RadioGroup.Item
          key={option.value}
          value={option.value}
          disabled={option.disabled}
          className={cx(
            'inline-flex items-center gap-1.5 rounded-sm px-2.5 text-small whitespace-nowrap text-ink-2 hover:text-ink',
            'data-[state=checked]:bg-raised data-[state=checked]:font-strong data-[state=checked]:text-ink data-[state=checked]:ring-1 data-[state=checked]:ring-line disabled:opacity-50',
            size === 'sm' ? 'h-6' : 'h-7',
          )}
        >
          {option.label}
          {option.count !== undefined && <span className="text-ink-3 tabular-nums">{option.count}</span>}
        </RadioGroup.Item>
      ))}
    </RadioGroup.Root>
  )
}
