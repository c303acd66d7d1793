import { newId } from '@crux/config-editor'
import { useTranslation } from 'react-i18next'
import { Button } from '../../../components/Button.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { OriginPill } from '../form/Origin.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { MoveButtons, RowButton } from './RowButtons.tsx'
import { useFocusRow } from './use-focus-row.ts'

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

/** The lines of a pasted text that become rows; a single line is typed text, so there are none. */
export function toLines(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.length > 1 ? lines : []
}

/** Single values, one per line; Enter begins the next. */
export function ListRows({ field, label, addLabel, inherited = [], rows, own, onChange, ordered, placeholder }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { getError, readOnly } = useConfigForm()
  const { rows: list, focusRow } = useFocusRow<HTMLUListElement>()
  const add = () => {
    const row = { id: newId(), key: '' }
    onChange([...rows, row])
    focusRow(row.id)
  }
  const paste = (index: number) => (text: string) => {
    const lines = toLines(text)
    if (lines.length > 0) onChange(rows.toSpliced(index, 1, ...lines.map((key) => ({ id: newId(), key }))))
    return lines.length > 0
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
              error={own ? (getError(`${field}[${index}].key`) ?? getError(`${field}[${index}]`)) : undefined}
              onChange={(key) => onChange(rows.with(index, { ...row, key }))}
              onEnter={add}
              onPasteLines={paste(index)}
            />
            {ordered && <MoveButtons rows={rows} index={index} onChange={onChange} />}
            <RowButton name={row.key} onRemove={() => onChange(rows.toSpliced(index, 1))} />
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
