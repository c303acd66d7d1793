import type { ResponseOf } from '@crux/contract'
import { Check } from 'lucide-react'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button } from '../../components/Button.tsx'
import { Chips } from '../../components/Chips.tsx'
import { SearchBox } from '../../components/SearchBox.tsx'
import { filterRows } from '../../table/filter-rows.ts'

/** More than these do not fit side by side. */
const chipsMax = 4

type Registry = ResponseOf<'registries.list'>[number]
type Props = { registries: readonly Registry[]; value: string; onChange: (id: string) => void }

/** One of a few side by side, or of many in a list that is searched by name and address. */
export function RegistryPicker({ registries, value, onChange }: Props) {
  const { t } = useTranslation(['versions', 'common'])
  const [open, setOpen] = useState(false)
  const [text, setText] = useState('')
  const current = registries.find(({ id }) => id === value)
  if (registries.length <= chipsMax)
    return (
      <Chips
        label={t('addImages.registry')}
        size="md"
        value={value}
        onChange={onChange}
        options={registries.map((one) => ({ value: one.id, label: one.name }))}
      />
    )
  if (!open)
    return (
      <div className="flex items-center gap-2 rounded-md border border-line px-3 py-1">
        <span className="font-strong">{current?.name}</span>
        <code className="min-w-0 flex-1 truncate text-ink-2">{current && getAddress(current)}</code>
        <Button size="sm" onClick={() => setOpen(true)}>
          {t('addImages.changeRegistry')}
        </Button>
      </div>
    )
  const found = filterRows(registries, text, (one) => [one.name, getAddress(one)])
  return (
    <div className="grid gap-2">
      <SearchBox value={text} onChange={setText} label={t('addImages.findRegistry')} className="w-full" autoFocus />
      <ul className="max-h-56 overflow-y-auto rounded-box border border-line empty:hidden">
        {found.map((one) => (
          <li key={one.id} className="border-b border-line last:border-0">
            <button
              type="button"
              aria-pressed={one.id === value}
              onClick={() => {
                setOpen(false)
                setText('')
                if (one.id !== value) onChange(one.id)
              }}
              className="flex h-9 w-full items-center gap-2 px-3 text-left hover:bg-hover focus-visible:-outline-offset-2"
            >
              <span className="font-strong">{one.name}</span>
              <code className="min-w-0 flex-1 truncate text-ink-2">{getAddress(one)}</code>
              {one.id === value && <Check aria-hidden className="text-accent" />}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p className="text-small text-ink-2">{t('common:filter.nothing')}</p>}
    </div>
  )
}

const getAddress = ({ imageUrlPrefix, url }: Registry) => imageUrlPrefix || url
