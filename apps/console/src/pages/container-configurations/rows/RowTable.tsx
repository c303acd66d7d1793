import type { LayeredRow } from '@crux/config-editor'
import { createContext, type ReactNode, type Ref, useContext } from 'react'
import { useTranslation } from 'react-i18next'
import { cx } from '../../../components/class-names.ts'
import { FieldError } from '../../../components/Field.tsx'
import { Pill } from '../../../components/Tag.tsx'
import { useConfigForm } from '../form/config-context.ts'
import { RowEnd } from './KeyedRows.tsx'

/** `width` is a class for the column; without one the column shares the remaining width. */
export type RowColumn = { id: string; head: string; width?: string; kubernetes?: boolean }

const HeadsContext = createContext<readonly RowColumn[]>([])

type Props = {
  label: string
  columns: readonly RowColumn[]
  rows: Ref<HTMLTableSectionElement>
  /** Below another table. */
  isSecond?: boolean
  children: ReactNode
}

/**
 * Rows of several settings under column heads. Where the columns do not fit, each row is a card and each setting has its own label.
 * The width of the section decides, not that of the window, because the list of settings and the summary take room beside it.
 */
export function RowTable({ label, columns, rows, isSecond, children }: Props) {
  const { t } = useTranslation(['configuration', 'common'])
  const { parent } = useConfigForm()
  const head = 'h-8 border-b border-line px-1 text-left text-small font-medium whitespace-nowrap text-ink-3'
  return (
    <div className={cx('@container', isSecond && 'border-t border-line')}>
      <table aria-label={label} className="w-full table-fixed @max-[600px]:block">
        <thead className="@max-[600px]:sr-only">
          <tr>
            {columns.map((column) => (
              <th key={column.id} scope="col" className={cx(head, 'first:pl-3', column.width)}>
                {column.head} {column.kubernetes && <Kubernetes />}
              </th>
            ))}
            <th scope="col" className={cx(head, 'pr-3', parent ? 'w-[132px]' : 'w-[44px]')}>
              <span className={parent ? undefined : 'sr-only'}>{t(parent ? 'column.from' : 'column.actions')}</span>
            </th>
          </tr>
        </thead>
        <tbody ref={rows} className="@max-[600px]:block">
          <HeadsContext value={columns}>{children}</HeadsContext>
        </tbody>
      </table>
    </div>
  )
}

type RowProps<Row> = {
  layered: LayeredRow<Row>
  /** The row's property in the merged configuration, which identifies its layer. */
  part: string
  name: string
  errors: readonly string[]
  note?: ReactNode
  onRemove: () => void
  /** One per column. */
  cells: readonly ReactNode[]
}

/** One row, with its errors below it. */
export function TableRow<Row extends { id?: string }>({
  layered,
  part,
  name,
  errors,
  note,
  onRemove,
  cells,
}: RowProps<Row>) {
  const heads = useContext(HeadsContext)
  const said = [...new Set(errors)]
  const more = said.length > 0 || Boolean(note)
  const line = more ? 'border-b-0' : 'border-b'
  return (
    <>
      <tr
        data-row={layered.row.id}
        className={cx(
          'border-line last:border-b-0 @max-[600px]:grid @max-[600px]:grid-cols-2 @max-[600px]:gap-x-3 @max-[600px]:gap-y-2 @max-[600px]:px-3 @max-[600px]:py-2.5',
          line,
        )}
      >
        {heads.map((head, place) => (
          <td
            key={head.id}
            className={cx(
              'px-1 py-1.5 align-top first:pl-3 @max-[600px]:block @max-[600px]:p-0!',
              !cells[place] && '@max-[600px]:hidden',
            )}
          >
            <span aria-hidden className="mb-0.5 hidden text-small text-ink-2 @max-[600px]:block">
              {head.head} {head.kubernetes && <Kubernetes />}
            </span>
            {cells[place]}
          </td>
        ))}
        <td className="py-1.5 pr-3 pl-1 align-top @max-[600px]:col-span-2 @max-[600px]:block @max-[600px]:p-0!">
          <span className="flex min-h-[30px] items-center">
            <RowEnd layered={layered} part={part} name={name} onRemove={onRemove} wide />
          </span>
        </td>
      </tr>
      {more && (
        <tr className="border-b border-line last:border-b-0 @max-[600px]:block">
          <td colSpan={heads.length + 1} className="px-3 pb-2 @max-[600px]:block">
            {note}
            {said.map((error) => (
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
