import { newId, parseEnvFile } from '@crux/config-editor'
import { useState } from 'react'
import { useTranslation } from 'react-i18next'
import { useConfigForm } from '../form/config-context.ts'
import { SettingInput } from '../form/SettingInput.tsx'
import { RowButton } from './RowButtons.tsx'

type TextRow<Name extends string> = { id?: string } & { [name in Name]: string | null }
type Column<Row, Name> = { name: Name; label: (row: Row, number: number) => string; placeholder?: string }
type Props<Name extends string, Row extends TextRow<Name>> = {
  /** The path of the rows: `logConfig.options`, `initContainers[0].environment`. */
  property: string
  label?: string
  rows: readonly Row[]
  columns: readonly Column<Row, Name>[]
  /** An empty row. */
  blank: (id: string) => Row
  onChange: (rows: Row[]) => void
  /** Splits a pasted text into the rows that replace the one that it was pasted into. */
  parse?: (text: string) => Row[]
}

/**
 * Rows of texts inside a setting, which belong to it and have no layers of their own. They are followed by one empty row: filling it adds the next,
 * emptying a row removes it. The empty row exists only on this page.
 */
export function TextRows<Name extends string, Row extends TextRow<Name>>({
  property,
  label,
  rows,
  columns,
  blank,
  onChange,
  parse,
}: Props<Name, Row>) {
  const { getError } = useConfigForm()
  const [spare, setSpare] = useState(newId)
  /** Several rows, or none, in place of one. */
  const replace = (index: number, next: readonly Row[]) => {
    if (index === rows.length) setSpare(newId())
    onChange([...rows.slice(0, index), ...next, ...rows.slice(index + 1)])
  }
  const set = (index: number, row: Row) => {
    const isBlank = columns.every(({ name }) => (row[name] ?? '') === '')
    if (!isBlank || index < rows.length) replace(index, isBlank ? [] : [row])
  }
  const paste = (index: number) => (text: string) => {
    const parsed = parse?.(text) ?? []
    if (parsed.length > 0) replace(index, parsed)
    return parsed.length > 0
  }
  // Single texts are the words of a command, whose order counts.
  const List = columns.length === 1 ? 'ol' : 'ul'
  return (
    <List aria-label={label} className="grid gap-1.5">
      {[...rows, blank(spare)].map((row, index) => {
        const isSpare = index === rows.length
        const inputId = `${property}.${row.id ?? index}`
        return (
          <li key={row.id ?? index} className="flex items-center gap-1">
            {columns.map(({ name, label: getLabel, placeholder }, place) => (
              <SettingInput
                key={name}
                className="flex-1"
                inputId={columns.length > 1 ? `${inputId}.${name}` : inputId}
                label={getLabel(row, index + 1)}
                placeholder={isSpare ? placeholder : undefined}
                value={row[name] ?? ''}
                error={
                  getError(`${property}[${index}].${name}`) ??
                  (place === 0 ? getError(`${property}[${index}]`) : undefined)
                }
                onChange={(text) => set(index, { ...row, [name]: text })}
                onPasteLines={place === 0 && parse ? paste(index) : undefined}
              />
            ))}
            <span className="w-[26px]">
              {!isSpare && <RowButton name={row[columns[0]?.name] ?? ''} onRemove={() => replace(index, [])} />}
            </span>
          </li>
        )
      })}
    </List>
  )
}

export type PairRow = { id?: string; key: string; value: string | null }
type PairProps = {
  property: string
  label: string
  rows: readonly PairRow[]
  onChange: (rows: PairRow[]) => void
  placeholders?: { key: string; value: string }
}

/** Keys and values inside of a setting. */
export function PairRows({ property, label, rows, onChange, placeholders }: PairProps) {
  const { t } = useTranslation(['configuration', 'common'])
  return (
    <TextRows
      property={property}
      label={label}
      rows={rows}
      columns={[
        {
          name: 'key',
          label: (_, number) => `${label}: ${t('column.key')} ${number}`,
          placeholder: placeholders?.key ?? t('column.key'),
        },
        {
          name: 'value',
          label: ({ key }, number) => (key ? t('valueOf', { key }) : `${label}: ${t('column.value')} ${number}`),
          placeholder: placeholders?.value ?? t('column.value'),
        },
      ]}
      blank={(id): PairRow => ({ id, key: '', value: '' })}
      onChange={onChange}
      parse={(text) => {
        const { pairs, problems } = parseEnvFile(text)
        return problems.length > 0 ? [] : pairs.map((pair) => ({ id: newId(), ...pair }))
      }}
    />
  )
}
