import type { LayeredRow } from '@crux/config-editor'
import { type RowWithKey, rowKey } from '@crux/rules'
import type { ReactNode } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { FieldError } from '../../../components/Field.tsx'
import { Pill } from '../../../components/Tag.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { rowProperty } from '../form/start-problems.ts'
import { RowEnd } from './KeyedRows.tsx'
import type { useLayeredRows } from './use-layered-rows.ts'

/** What the cell of a column needs: its row, the properties of its input, and how the row is changed. */
export type RowCell<Row> = {
  layered: LayeredRow<Row>
  row: Row
  input: { inputId: string; label: string; error: string | undefined }
  change: (part: Partial<Row>) => void
  getError: (part: string) => string | undefined
}

/** `width` is a class for the column; without one the column shares the remaining width. */
export type RowColumn<Row> = {
  /** The part of the row. */
  id: string
  head: string
  width?: string
  /** Only Kubernetes applies it, and the kind of node is unknown. */
  kubernetes?: boolean
  cell: (cell: RowCell<Row>) => ReactNode
}

type Props<Row extends { id?: string }> = {
  field: 'ports' | 'portRanges' | 'volumes'
  label: string
  columns: readonly RowColumn<Row>[]
  list: ReturnType<typeof useLayeredRows<Row, HTMLTableSectionElement>>
  getName: (row: Row) => string
  renderNote?: (row: Row) => ReactNode
  /** Below another table. */
  isSecond?: boolean
}

/**
 * Rows of several settings under column heads. Where the columns do not fit, each row is a card and each setting has its own label.
 * The width of the section decides, not that of the window, because the list of settings and the summary take room beside it.
 */
export function RowTable<Row extends RowWithKey & { id?: string }>(props: Props<Row>) {
  const { t } = useTranslation(['configuration', 'common'])
  const { parent } = useConfigForm()
  const head = 'h-8 border-b border-line px-1 text-left text-small font-medium whitespace-nowrap text-ink-3'
  return (
    <div className={cx('@container', props.isSecond && 'border-t border-line')}>
      <table aria-label={props.label} className="w-full table-fixed @max-[600px]:block">
        <thead className="@max-[600px]:sr-only">
          <tr>
            {props.columns.map((column) => (
              <th key={column.id} scope="col" className={cx(head, 'first:pl-3', column.width)}>
                {column.head} {column.kubernetes && <Kubernetes />}
              </th>
            ))}
            <th scope="col" className={cx(head, 'pr-3', parent ? 'w-[132px]' : 'w-[44px]')}>
              <span className={parent ? undefined : 'sr-only'}>{t(parent ? 'column.from' : 'column.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody ref={props.list.body} className="@max-[600px]:block">
          {props.list.rows.map((layered) => (
            <TableRow key={layered.id} layered={layered} {...props} />
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** One row, with its errors below it. */
function TableRow<Row extends RowWithKey & { id?: string }>({
  layered,
  field,
  columns,
  list,
  getName,
  renderNote,
}: Props<Row> & { layered: LayeredRow<Row> }) {
  const form = useConfigForm()
  const { row, index, id: rowId } = layered
  const property = rowProperty(field, index, row)
  const getError = (part: string) => form.getError(`${property}.${part}`)
  const change = (part: Partial<Row>) => list.change(layered, part)
  const errors = [...new Set(form.errorsBelow(property))]
  const note = renderNote?.(row)
  const more = errors.length > 0 || Boolean(note)
  return (
    <>
      <tr
        data-row={row.id}
        className={cx(
          'border-line last:border-b-0 @max-[600px]:grid @max-[600px]:grid-cols-2 @max-[600px]:gap-x-3 @max-[600px]:gap-y-2 @max-[600px]:px-3 @max-[600px]:py-2.5',
          more ? 'border-b-0' : 'border-b',
        )}
      >
        {columns.map(({ id, head, kubernetes, cell }) => {
          const input = { inputId: `${field}.${rowId}.${id}`, label: head, error: getError(id) }
          const content = cell({ layered, row, input, change, getError })
          return (
            <td
              key={id}
              className={cx(
                'px-1 py-1.5 align-top first:pl-3 @max-[600px]:block @max-[600px]:p-0!',
                !content && '@max-[600px]:hidden',
              )}
            >
              <span aria-hidden className="mb-0.5 hidden text-small text-ink-2 @max-[600px]:block">
                {head} {kubernetes && <Kubernetes />}
              </span>
              {content}
            </td>
          )
        })}
        <td className="py-1.5 pr-3 pl-1 align-top @max-[600px]:col-span-2 @max-[600px]:block @max-[600px]:p-0!">
          <span className="flex min-h-[30px] items-center">
            <RowEnd
              layered={layered}
              part={`${field}.${rowKey(row)}`}
              name={getName(row)}
              onRemove={() => list.remove(layered)}
              wide
            />
          </span>
        </td>
      </tr>
      {more && (
        <tr className="border-b border-line last:border-b-0 @max-[600px]:block">
          <td colSpan={columns.length + 1} className="px-3 pb-2 @max-[600px]:block">
            {note}
            {errors.map((error) => (
              <FieldError key={error}>{error}</FieldError>
            ))}
          </td>
        </tr>
      )}
    </>
  )
}

/** Marks a setting that only Kubernetes applies, if the kind of node is unknown. */
function Kubernetes() {
  const { t } = useTranslation(['configuration', 'common'])
  return <Pill>{t('group.kubernetes')}</Pill>
}
