import { Ellipsis, type LucideIcon } from 'lucide-react'
import {
  cloneElement,
  type KeyboardEvent,
  type MouseEvent,
  type ReactElement,
  type ReactNode,
  useId,
  useRef,
  useState,
} from 'react'
import { useTranslation } from 'react-i18next'
import { lazyComponent } from '../loading/lazy-component.tsx'
import { IconButton } from './Button.tsx'
import { cx } from './class-names.ts'
import { useMenuParts } from './menu-parts.ts'

const loadPanel = () => import('./MenuPanel.tsx').then((module) => module.MenuPanel)
const MenuPanel = lazyComponent(loadPanel)

export type Action = {
  id: string
  label: string
  icon?: LucideIcon
  run: () => void
  /** Why it cannot act now; it is then shown disabled with the reason below its name. */
  disabledReason?: string | null | false
  danger?: boolean
}

type Props = { label?: string; actions: readonly Action[]; trigger?: Trigger; size?: 'sm' | 'md' }

/** The "more" menu of a row or a page. Entries without the required right are disabled with a reason instead of hidden. */
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

type Trigger = ReactElement<{ id?: string; onClick?: (event: MouseEvent) => void }>

type MenuProps = { trigger: Trigger; children: ReactNode; align?: 'start' | 'end'; width?: string }

/** `trigger` is a native button or one of ours. */
export function Menu({ trigger, children, align = 'end', width }: MenuProps) {
  const [open, setOpen] = useState<'by pointer' | 'by keyboard' | null>(null)
  const anchor = useRef<HTMLElement>(null)
  const ownId = useId()
  // Loads the menu on hover, because it is likely opened next.
  const expect = () => void loadPanel().catch(() => undefined)
  const attributes = {
    ref: anchor,
    id: trigger.props.id ?? ownId,
    'aria-haspopup': 'menu',
    'aria-expanded': open !== null,
    'data-state': open ? 'open' : 'closed',
    onPointerEnter: expect,
    onFocus: expect,
    onClick: (event: MouseEvent) => {
      trigger.props.onClick?.(event)
      // A click without a pointer comes from the keyboard.
      setOpen((before) => (before ? null : event.detail === 0 ? 'by keyboard' : 'by pointer'))
    },
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'ArrowDown' || open) return
      event.preventDefault()
      setOpen('by keyboard')
    },
  }
  return (
    <>
      {cloneElement(trigger, attributes as object)}
      {open && (
        <MenuPanel
          anchor={anchor}
          align={align}
          width={width}
          byKeyboard={open === 'by keyboard'}
          onClose={() => setOpen(null)}
        >
          {children}
        </MenuPanel>
      )}
    </>
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
  const { Item } = useMenuParts()
  const look = cx(
    'flex min-h-[30px] w-full items-center gap-2 rounded-md px-2 text-left outline-none data-[highlighted]:bg-hover',
    danger ? 'text-danger' : 'text-ink',
    selected && 'font-strong',
    disabledReason && 'opacity-60',
  )
  if (asChild)
    return (
      <Item asChild className={look} onSelect={onSelect}>
        {children}
      </Item>
    )
  return (
    <Item disabled={Boolean(disabledReason)} onSelect={onSelect} className={look}>
      {Icon && <Icon aria-hidden className={danger ? undefined : 'text-ink-2'} />}
      <span className="min-w-0 flex-1 py-1">
        {children}
        {disabledReason && <span className="block text-small text-ink-2">{disabledReason}</span>}
      </span>
    </Item>
  )
}

type MenuCheckProps = { checked: boolean; onChange: (checked: boolean) => void; children: ReactNode }

/** An entry that is switched on and off; the menu stays open. */
export function MenuCheck({ checked, onChange, children }: MenuCheckProps) {
  const { CheckboxItem } = useMenuParts()
  return (
    <CheckboxItem
      checked={checked}
      onCheckedChange={onChange}
      onSelect={(event) => event.preventDefault()}
      className="flex h-[30px] items-center gap-2 rounded-md px-2 outline-none data-[highlighted]:bg-hover"
    >
      <span aria-hidden className="grid size-4 place-items-center rounded-sm border border-line-strong text-accent">
        {checked && '✓'}
      </span>
      {children}
    </CheckboxItem>
  )
}

export function MenuLabel({ children }: { children: ReactNode }) {
  const { Label } = useMenuParts()
  return <Label className="px-2 pt-2 pb-1 text-small text-ink-3">{children}</Label>
}

export function MenuLine() {
  const { Separator } = useMenuParts()
  return <Separator className="my-1 h-px bg-line" />
}
