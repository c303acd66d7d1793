import { newId } from '@crux/config-editor'
import { ArrowDown, ArrowUp } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Button, IconButton } from '../../../components/Button.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { OriginPill } from '../form/Origin.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { RemoveRow } from './RemoveRow.tsx'

type Row = { id?: string; key: string }
type Props = {
  field: 'commands' | 'args' | 'networks' | 'customHeaders'
  label: string
  addLabel: string
  rows: readonly Row[]
  /** Rows of lower layers that stay in addition to those of this layer. */
  inherited?: readonly Row[]
  /** False for inherited rows: they are shown, and an edit creates this layer's own list. */
  own: boolean
  onChange: (rows: Row[]) => void
  ordered?: boolean
  placeholder?: string
}

/** Single values, one per line; Enter begins the next. */
export function ListRows({ field, label, addLabel, inherited = [], rows, own, onChange, ordered, placeholder }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf, readOnly } = useConfigForm()
  const [added, setAdded] = useState<string | null>(null)
  const list = useRef<HTMLUListElement>(null)
  useEffect(() => {
    if (!added) return
    list.current?.querySelector<HTMLInputElement>(`[data-row="${added}"] input`)?.focus()
    setAdded(null)
  }, [added])

  const add = () => {
    const row = { id: newId(), key: '' }
    onChange([...rows, row])
    setAdded(row.id)
  }
  const move = (from: number, by: 1 | -1) => {
    const next = [...rows]
    const [row] = next.splice(from, 1)
    if (row) next.splice(from + by, 0, row)
    onChange(next)
  }
  const paste = (index: number) => (text: string) => {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
    if (lines.length < 2) return false
    onChange([...rows.slice(0, index), ...lines.map((key) => ({ id: newId(), key })), ...rows.slice(index + 1)])
    return true
  }
  return (
    <div className="grid gap-1.5">
      {inherited.length > 0 && (
        <ul className="grid gap-1">
          {inherited.map((row) => (
            <li key={row.key} className="flex items-center gap-2">
              <span className="mono break-all">{row.key}</span>
              <OriginPill own={false} part={`${field}.${row.key}`} />
            </li>
          ))}
        </ul>
      )}
      <ul ref={list} className="grid gap-1.5 empty:hidden">
        {rows.map((row, index) => (
          <li key={row.id ?? index} data-row={row.id} className="flex items-center gap-1">
            <SettingInput
              className="flex-1"
              inputId={`${field}.${row.id ?? index}`}
              label={t('numbered', { label, number: index + 1 })}
              value={row.key}
              placeholder={placeholder}
              error={own ? (errorOf(`${field}[${index}].key`) ?? errorOf(`${field}[${index}]`)) : undefined}
              onChange={(key) => onChange(rows.map((other, at) => (at === index ? { ...other, key } : other)))}
              onEnter={add}
              onPasteLines={paste(index)}
            />
            {ordered && (
              <>
                <IconButton
                  icon={ArrowUp}
                  size="sm"
                  label={t('moveUp', { number: index + 1 })}
                  disabledReason={readOnly ?? (index === 0 && t('isFirst'))}
                  onClick={() => move(index, -1)}
                />
                <IconButton
                  icon={ArrowDown}
                  size="sm"
                  label={t('moveDown', { number: index + 1 })}
                  disabledReason={readOnly ?? (index === rows.length - 1 && t('isLast'))}
                  onClick={() => move(index, 1)}
                />
              </>
            )}
            <RemoveRow name={row.key} onRemove={() => onChange(rows.filter((_, at) => at !== index))} />
          </li>
        ))}
      </ul>
      <span>
        <Button size="sm" disabledReason={readOnly} onClick={add}>
          {addLabel}
        </Button>
      </span>
    </div>
  )
}
