import type { LayeredRow } from '@crux/config-editor'
import type { ContainerConfigFields } from '@crux/contract'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { useConfigForm } from '../form/config-context.ts'
import { OriginPill } from '../form/Origin.tsx'
import { RowErrors } from '../form/Section.tsx'
import { SettingInput } from '../form/SettingInput.tsx'
import { RowButton } from './RowButtons.tsx'
import { useLayeredRows } from './use-layered-rows.ts'

type AnyRow = { id?: string; key: string }
type KeyedField = 'secrets' | 'capabilities' | 'extraHosts' | 'ulimits'

/** The layered rows of a list whose rows have a key. */
export function useKeyedRows<Row extends AnyRow>(
  field: KeyedField,
  select: (fields: ContainerConfigFields | null) => readonly Row[] | null | undefined,
) {
  const form = useConfigForm()
  const list = useLayeredRows<Row, HTMLUListElement>({
    own: select(form.own),
    inherited: select(form.parent),
    same: 'key',
    onChange: (rows) => form.edit(field, rows),
  })
  return { field, ...list }
}

type Cells<Row> = {
  row: Row
  change: (part: Partial<Row>) => void
  /** Of this row: `getError('value')`. */
  getError: (part: string) => string | undefined
  inputId: (part: string) => string
}
type Props<Row extends AnyRow> = {
  list: ReturnType<typeof useKeyedRows<Row>>
  keyPlaceholder?: string
  /** True where the key is chosen and not typed. */
  fixedKey?: boolean
  children: (cells: Cells<Row>) => ReactNode
}

/** Rows of a key and what belongs to it, each with its origin: an own row goes, one in place of another goes back. */
export function KeyedRows<Row extends AnyRow>({ list, keyPlaceholder, fixedKey, children }: Props<Row>) {
  const { t } = useTranslation(['configuration', 'common'])
  const form = useConfigForm()
  const { field, rows } = list
  return (
    <>
      {rows.length === 0 && <p className="px-3 py-2.5 text-ink-3">{t(`empty.${field}`)}</p>}
      <ul ref={list.body} className="divide-y divide-line empty:hidden">
        {rows.map((layered) => {
          const { row, origin, index, id } = layered
          const getError = (part: string) => (index < 0 ? undefined : form.getError(`${field}[${index}].${part}`))
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
                  error={getError('key')}
                  onChange={(key) => list.change(layered, { ...row, key })}
                />
              ) : (
                <span className="mono w-[30%] min-w-36 break-all max-md:flex-1">{row.key}</span>
              )}
              {children({
                row,
                change: (part) => list.change(layered, part),
                getError,
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

type RowEndProps = {
  layered: LayeredRow<unknown>
  part: string
  name: string
  onRemove: () => void
  /** In a table: takes the whole cell, so that the origin lines up with the column head. */
  wide?: boolean
}

/** Origin and what can be done: an own row goes, an override goes back, one from below is changed there. */
export const RowEnd = ({ layered: { origin }, part, name, onRemove, wide }: RowEndProps) => (
  <span className={cx('flex items-center gap-1', wide ? 'min-w-0 flex-1 [&>button]:ml-auto' : 'ml-auto')}>
    <OriginPill own={origin !== 'inherited'} part={part} />
    <RowButton name={name} origin={origin} onRemove={onRemove} />
  </span>
)
