import { Columns3 } from 'lucide-react'
import { DropdownMenu } from 'radix-ui'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { Menu } from '../components/Menu.tsx'

type Props = {
  options: readonly { id: string; label: string; shown: boolean }[]
  onToggle: (id: string, shown: boolean) => void
}

/** Which columns a table shows; it stays open while several are chosen. */
export function ColumnPicker({ options, onToggle }: Props) {
  const { t } = useTranslation()
  return (
    <Menu
      trigger={
        <Button variant="bare" icon={Columns3} className="max-md:hidden!">
          {t('columns')}
        </Button>
      }
    >
      {options.map((option) => (
        <DropdownMenu.CheckboxItem
          key={option.id}
          checked={option.shown}
          onCheckedChange={(shown) => onToggle(option.id, shown)}
          onSelect={(event) => event.preventDefault()}
          className="flex h-[30px] items-center gap-2 rounded-md px-2 outline-none data-[highlighted]:bg-hover"
        >
          <span aria-hidden className="grid size-4 place-items-center rounded-sm border border-line-strong text-accent">
            {option.shown && '✓'}
          </span>
          {option.label}
        </DropdownMenu.CheckboxItem>
      ))}
    </Menu>
  )
}
