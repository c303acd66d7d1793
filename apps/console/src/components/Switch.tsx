type Props = {
  id?: string
  label?: string
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  describedBy?: string
}

/** A button with role=switch and aria-checked. Pass `label` if no `<label htmlFor>` names it. */
export function Switch({ id, label, checked, onChange, disabled, describedBy }: Props) {
  return (
    <button
      type="button"
      role="switch"
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
      aria-checked={checked}
      disabled={disabled}
      onClick={() => onChange(!checked)}
      className="group relative inline-flex h-4 w-7 shrink-0 items-center rounded-full border border-transparent bg-line-strong transition-colors aria-checked:bg-accent disabled:opacity-50"
    >
      <span className="size-3 translate-x-[1px] rounded-full bg-surface transition-transform group-aria-checked:translate-x-[13px]" />
    </button>
  )
}
