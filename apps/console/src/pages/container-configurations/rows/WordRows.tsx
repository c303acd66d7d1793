import { newId } from '@crux/config-editor'
import { useTranslation } from 'react-i18next'
import { useConfigForm } from '../form/config-context.ts'
import { SettingInput } from '../form/SettingInput.tsx'
import { RemoveRow } from './RemoveRow.tsx'
import { useTrailingRow } from './use-trailing-row.ts'

type Row = { id?: string; key: string }
type Props = {
  property: string
  label: string
  rows: readonly Row[]
  onChange: (rows: Row[]) => void
  placeholder?: string
}

/** Words of a command line inside of a setting, one per line. */
export function WordRows({ property, label, rows, onChange, placeholder }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf } = useConfigForm()
  const list = useTrailingRow<Row>(rows, {
    blank: (id) => ({ id, key: '' }),
    isBlank: (row) => row.key === '',
    onChange,
  })
  const paste = (index: number) => (text: string) => {
    const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
    if (lines.length < 2) return false
    list.replace(
      index,
      lines.map((key) => ({ id: newId(), key: key.trim() })),
    )
    return true
  }
  return (
    <ol aria-label={label} className="grid gap-1.5">
      {list.rows.map((row, index) => (
        <li key={row.id ?? index} className="flex items-center gap-1">
          <SettingInput
            className="flex-1"
            inputId={`${property}.${row.id ?? index}`}
            label={t('numbered', { label, number: index + 1 })}
            placeholder={list.isSpare(index) ? placeholder : undefined}
            value={row.key}
            error={errorOf(`${property}[${index}].key`) ?? errorOf(`${property}[${index}]`)}
            onChange={(key) => list.set(index, { key })}
            onPasteLines={paste(index)}
          />
          <span className="w-[26px]">
            {!list.isSpare(index) && <RemoveRow name={row.key} onRemove={() => list.remove(index)} />}
          </span>
        </li>
      ))}
    </ol>
  )
}
