import { Columns3 } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Button } from '../components/Button.tsx'
import { Menu, MenuCheck } from '../components/Menu.tsx'

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
        <MenuCheck key={option.id} checked={option.shown} onChange={(shown) => onToggle(option.id, shown)}>
          {option.label}
        </MenuCheck>
      ))}
    </Menu>
  )
}
