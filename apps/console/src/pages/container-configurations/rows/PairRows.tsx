import { newId, parseEnvFile } from '@crux/config-editor'
import { useTranslation } from 'react-i18next'
import { useConfigForm } from '../form/config-context.ts'
import { SettingInput } from '../form/SettingInput.tsx'
import { RemoveRow } from './RemoveRow.tsx'
import { useTrailingRow } from './use-trailing-row.ts'

export type PairRow = { id?: string; key: string; value: string | null }
type Props = {
  /** The path of the rows: `logConfig.options`, `initContainers[0].environment`. */
  property: string
  label: string
  rows: readonly PairRow[]
  onChange: (rows: PairRow[]) => void
  placeholders?: { key?: string; value?: string }
}

const isBlank = (row: PairRow) => row.key === '' && (row.value ?? '') === ''

/** Keys and values inside of a setting: they belong to it and have no layers of their own. */
export function PairRows({ property, label, rows, onChange, placeholders }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { errorOf } = useConfigForm()
  const list = useTrailingRow<PairRow>(rows, { blank: (id) => ({ id, key: '', value: '' }), isBlank, onChange })
  const paste = (index: number) => (text: string) => {
    const { pairs, problems } = parseEnvFile(text)
    if (pairs.length === 0 || problems.length > 0) return false
    list.replace(
      index,
      pairs.map((pair) => ({ id: newId(), ...pair })),
    )
    return true
  }
  return (
    <ul aria-label={label} className="grid gap-1.5">
      {list.rows.map((row, index) => (
        <li key={row.id ?? index} className="flex items-center gap-1">
          <SettingInput
            className="flex-1"
            inputId={`${property}.${row.id ?? index}.key`}
            label={`${label}: ${t('column.key')} ${index + 1}`}
            placeholder={list.isSpare(index) ? (placeholders?.key ?? t('column.key')) : undefined}
            value={row.key}
            error={errorOf(`${property}[${index}].key`) ?? errorOf(`${property}[${index}]`)}
            onChange={(key) => list.set(index, { key })}
            onPasteLines={paste(index)}
          />
          <SettingInput
            className="flex-1"
            inputId={`${property}.${row.id ?? index}.value`}
            label={row.key ? t('valueOf', { key: row.key }) : `${label}: ${t('column.value')} ${index + 1}`}
            placeholder={list.isSpare(index) ? (placeholders?.value ?? t('column.value')) : undefined}
            value={row.value ?? ''}
            error={errorOf(`${property}[${index}].value`)}
            onChange={(value) => list.set(index, { value })}
          />
          <span className="w-[26px]">
            {!list.isSpare(index) && <RemoveRow name={row.key} onRemove={() => list.remove(index)} />}
          </span>
        </li>
      ))}
    </ul>
  )
}
