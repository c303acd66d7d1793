import { Check, Minus } from 'lucide-react'

type Props = {
  id?: string
  label?: string
  checked: boolean | 'indeterminate'
  onChange: (checked: boolean) => void
  disabled?: boolean
  describedBy?: string
}

export function Checkbox({ id, label, checked, onChange, disabled, describedBy }: Props) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a native one cannot hold our marks.
    <button
      type="button"
      role="checkbox"
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
      aria-checked={checked === 'indeterminate' ? 'mixed' : checked}
      disabled={disabled}
      onClick={() => onChange(checked !== true)}
      className="grid size-4 shrink-0 place-items-center rounded-sm border border-line-strong bg-surface text-accent-ink aria-checked:border-accent aria-checked:bg-accent aria-[checked=mixed]:border-accent aria-[checked=mixed]:bg-accent disabled:opacity-50"
    >
      {checked === 'indeterminate' && <Minus aria-hidden className="size-3! stroke-3!" />}
      {checked === true && <Check aria-hidden className="size-3! stroke-3!" />}
    </button>
  )
}
