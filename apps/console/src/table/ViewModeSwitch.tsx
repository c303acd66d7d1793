import { LayoutGrid, List } from 'lucide-react'
import { useTranslation } from 'react-i18next'
import { Chips } from '../components/Chips.tsx'
import type { ViewMode } from '../stores/view-mode.ts'

export function ViewModeSwitch({ value, onChange }: { value: ViewMode; onChange: (mode: ViewMode) => void }) {
  const { t } = useTranslation()
  return (
    <Chips
      label={t('view.label')}
      value={value}
      onChange={onChange}
      options={[
        { value: 'tile', label: <Mark icon={LayoutGrid} word={t('view.tile')} /> },
        { value: 'list', label: <Mark icon={List} word={t('view.list')} /> },
      ]}
    />
  )
}

const Mark = ({ icon: Icon, word }: { icon: typeof List; word: string }) => (
  <>
    <Icon aria-hidden className="size-3.5!" />
    <span className="sr-only">{word}</span>
  </>
)
