import { Ellipsis, type LucideIcon } from 'lucide-react'
import { DropdownMenu as Radix } from 'radix-ui'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from './Button.tsx'
import { cx } from './class-names.ts'

export type Action = {
  id: string
  label: string
  icon?: LucideIcon
  run: () => void
  /** Why it cannot act now; it is then shown disabled with the reason below its name. */
  disabledReason?: string | null | false
  danger?: boolean
}

type Props = { label?: string; actions: readonly Action[]; trigger?: ReactNode; size?: 'sm' | 'md' }

/** The "more" menu of a row or a page. Disabled beats hidden: an entry that cannot act says why. */
export function ActionMenu({ label, actions, trigger, size = 'md' }: Props) {
  const { t } = useTranslation()
  if (actions.length === 0) return null
  return (
    <Menu trigger={trigger ?? <IconButton icon={Ellipsis} label={label ?? t('more')} size={size} />}>
      {actions.map((action) => (
        <MenuItem
          key={action.id}
          icon={action.icon}
          danger={action.danger}
          disabledReason={action.disabledReason}
          onSelect={action.run}
        >
          {action.label}
        </MenuItem>
      ))}
    </Menu>
  )
}

export function Menu({
  trigger,
  children,
  align = 'end',
  width,
}: {
  trigger: ReactNode
  children: ReactNode
  align?: 'start' | 'end'
  width?: string
}) {
  return (
    <Radix.Root modal={false}>
      <Radix.Trigger asChild>{trigger}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className={cx(
            'z-50 rounded-box border border-line bg-raised p-1 shadow-lift animate-[appear_.1s]',
            width ?? 'min-w-48 max-w-80',
          )}
        >
          {children}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  )
}

type ItemProps = {
  icon?: LucideIcon
  danger?: boolean
  disabledReason?: string | null | false
  onSelect?: () => void
  asChild?: boolean
  children: ReactNode
  selected?: boolean
}

export function MenuItem({ icon: Icon, danger, disabledReason, onSelect, asChild, children, selected }: ItemProps) {
  const look = cx(
    'flex min-h-[30px] w-full items-center gap-2 rounded-md px-2 text-left outline-none data-[highlighted]:bg-hover',
    danger ? 'text-danger' : 'text-ink',
    selected && 'font-strong',
    disabledReason && 'opacity-60',
  )
  if (asChild)
    return (
      <Radix.Item asChild className={look} onSelect={onSelect}>
        {children}
      </Radix.Item>
    )
  return (
    <Radix.Item disabled={Boolean(disabledReason)} onSelect={onSelect} className={look}>
      {Icon && <Icon aria-hidden className={danger ? undefined : 'text-ink-2'} />}
      <span className="min-w-0 flex-1 py-1">
        {children}
        {disabledReason && <span className="block text-small text-ink-2">{disabledReason}</span>}
      </span>
    </Radix.Item>
  )
}

export const MenuLabel = ({ children }: { children: ReactNode }) => (
  <Radix.Label className="px-2 pt-2 pb-1 text-small text-ink-3">{children}</Radix.Label>
)
export const MenuLine = () => <Radix.Separator className="my-1 h-px bg-line" />
