import { type LayeredRow, layerRows, newId, withoutRow, withRow } from '@crux/config-editor'
import type { ContainerConfigField } from '@crux/contract'
import { Undo2, X } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../../../components/Button.tsx'
import { cx } from '../../../components/class-names.ts'
import { useConfigForm } from '../form/config-context.ts'
import { OriginPill } from '../form/Origin.tsx'
import { RowErrors } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { useFocusRow } from './use-focus-row.ts'

type AnyRow = { id?: string; key: string }
export type RowCells<Row> = {
  layered: LayeredRow<Row>
  change: (part: Partial<Row>) => void
  /** Of this row: `errorOf('value')`. */
  errorOf: (part: string) => string | undefined
  inputId: (part: string) => string
}

/** The layered rows of a list whose rows have a key, and how this layer's are changed. */
export function useKeyedRows<Row extends AnyRow>(field: ContainerConfigField) {
  const form = useConfigForm()
  const own = (form.own[field] ?? []) as unknown as readonly Row[]
  const rows = layerRows<Row>(own, (form.parent?.[field] ?? []) as unknown as readonly Row[], 'key')
  const { rows: body, focusRow } = useFocusRow<HTMLUListElement>()
  const set = (next: readonly Row[]) => form.edit(field, next)
  return {
    own,
    rows,
    body,
    add(row: Omit<Row, 'id'>) {
      const id = newId()
      set([...own, { ...row, id } as Row])
      focusRow(id)
    },
    change: (layered: LayeredRow<Row>, part: Partial<Row>) => set(withRow(own, layered, part, newId)),
    remove: (layered: LayeredRow<Row>) => set(withoutRow(own, layered.index)),
  }
}

type Props<Row extends AnyRow> = {
  field: ContainerConfigField
  list: ReturnType<typeof useKeyedRows<Row>>
  empty: string
  keyPlaceholder?: string
  /** True where the key is chosen and not typed. */
  fixedKey?: boolean
  children: (cells: RowCells<Row>) => ReactNode
}

/** Rows of a key and what belongs to it, each with its origin: an own row goes, one in place of another goes back. */
export function KeyedRows<Row extends AnyRow>({ field, list, empty, keyPlaceholder, fixedKey, children }: Props<Row>) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { rows } = list
  return (
    <>
      {rows.length === 0 && <p className="px-3 py-2.5 text-ink-3">{empty}</p>}
      <ul ref={list.body} className="divide-y divide-line empty:hidden">
        {rows.map((layered) => {
          const { row, origin, index, id } = layered
          const at = (part: string) => (index < 0 ? undefined : form.errorOf(`${field}[${index}]${part}`))
          return (
            <li key={id} data-row={row.id} className="flex flex-wrap items-center gap-2 px-3 py-1.5">
              {origin === 'own' && !fixedKey ? (
                <SettingInput
                  className="w-[30%] min-w-36 max-md:flex-1"
                  lazy
                  inputId={`${field}.${id}.key`}
                  label={t('column.key')}
                  placeholder={keyPlaceholder}
                  value={row.key}
                  error={at('.key')}
                  onChange={(key) => list.change(layered, { key } as Partial<Row>)}
                />
              ) : (
                <span className="mono w-[30%] min-w-36 break-all max-md:flex-1">{row.key}</span>
              )}
              {children({
                layered,
                change: (part) => list.change(layered, part),
                errorOf: (part) => at(`.${part}`),
                inputId: (part) => `${field}.${id}.${part}`,
              })}
              <RowEnd
                layered={layered}
                part={`${field}.${row.key}`}
                name={row.key}
                onRemove={() => list.remove(layered)}
              />
            </li>
          )
        })}
      </ul>
      <RowErrors errors={form.errorsBelow(field)} />
    </>
  )
}

/** Origin and what can be done: an own row goes, an override goes back, one from below is changed there. */
export function RowEnd<Row>({
  layered,
  part,
  name,
  onRemove,
  wide,
}: {
  layered: LayeredRow<Row>
  part: string
  name: string
  onRemove: () => void
  /** In a table: takes the whole cell, so that the origin lines up with the column head. */
  wide?: boolean
}) {
  const { t } = useTranslation(['configuration', 'common'])
  const { readOnly } = useConfigForm()
  const { origin } = layered
  return (
    <span className={cx('flex items-center gap-1', wide ? 'min-w-0 flex-1 [&>button]:ml-auto' : 'ml-auto')}>
      <OriginPill own={origin !== 'inherited'} part={part} />
      {origin === 'override' ? (
        <IconButton
          icon={Undo2}
          size="sm"
          label={t('reset.row', { key: name })}
          disabledReason={readOnly}
          onClick={onRemove}
        />
      ) : (
        <IconButton
          icon={X}
          size="sm"
          label={t('removeRow', { key: name })}
          disabledReason={readOnly ?? (origin === 'inherited' && t('inheritedRow'))}
          onClick={onRemove}
        />
      )}
    </span>
  )
}
