import { Switch as Radix } from 'radix-ui'
import { cx } from './class-names.ts'

type Props = {
  id?: string
  label?: string
  checked: boolean
  onChange: (checked: boolean) => void
  disabled?: boolean
  describedBy?: string
}

/** role=switch with aria-checked (ui.md U6). Give `label` where no `<label htmlFor>` stands beside it. */
export function Switch({ id, label, checked, onChange, disabled, describedBy }: Props) {
  return (
    <Radix.Root
      id={id}
      aria-label={label}
      aria-describedby={describedBy}
      checked={checked}
      onCheckedChange={onChange}
      disabled={disabled}
      className={cx(
        'relative inline-flex h-4 w-7 shrink-0 items-center rounded-full border border-transparent bg-line-strong transition-colors',
        'data-[state=checked]:bg-accent disabled:opacity-50',
      )}
    >
      <Radix.Thumb className="size-3 translate-x-[1px] rounded-full bg-surface transition-transform data-[state=checked]:translate-x-[13px]" />
    </Radix.Root>
  )
}
