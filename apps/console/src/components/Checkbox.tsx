import { Check, Minus } from 'lucide-react'
import { Checkbox as Radix } from 'radix-ui'

type Props = {
  id?: string
  label?: string
  checked: boolean | 'indeterminate'
  onChange: (checked: boolean) => void
  disabled?: boolean
}

export function Checkbox({ id, label, checked, onChange, disabled }: Props) {
  return (
    <Radix.Root
      id={id}
      aria-label={label}
      checked={checked}
      onCheckedChange={(next) => onChange(next === true)}
      disabled={disabled}
      className="grid size-4 shrink-0 place-items-center rounded-sm border border-line-strong bg-surface text-accent-ink data-[state=checked]:border-accent data-[state=checked]:bg-accent data-[state=indeterminate]:border-accent data-[state=indeterminate]:bg-accent disabled:opacity-50"
    >
      <Radix.Indicator>
        {checked === 'indeterminate' ? (
          <Minus aria-hidden className="size-3! stroke-3!" />
        ) : (
          <Check aria-hidden className="size-3! stroke-3!" />
        )}
      </Radix.Indicator>
    </Radix.Root>
  )
}
