import { ArrowDown, ArrowUp } from 'lucide-react'
import { Fragment, type ReactNode, useRef, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { IconButton } from '../components/Button.tsx'
import { cx } from '../components/class-names.ts'
import { ActionMenu } from '../components/Menu.tsx'
import { useNarrow } from '../components/use-media.ts'
import { type Column, type RowAction, type TableProps, tints } from './columns.ts'
import { NarrowRows } from './NarrowRows.tsx'
import { openRow } from './open-row.ts'
import { withGroups } from './row-groups.ts'
import { keepOrder, type Sort, sortRows } from './sort-rows.ts'
import { useVisibleRows } from './use-visible-rows.ts'

/** The one table: dense rows, sortable headers, actions at the end; below 768 px a list of two-line rows. */
export function DataTable<Row>(props: TableProps<Row>) {
  const { label, rowKey, actions, rowButton, tint, initialSort, below, footer, flush, groupBy, noGroup } = props
  const { t } = useTranslation()
  const narrow = useNarrow()
  const isSorted = initialSort !== null
  const columns = isSorted ? props.columns : props.columns.map((column) => ({ ...column, sort: undefined }))
  const first = columns.find((column) => column.sort)
  const [sort, setSort] = useState<Sort | null>(initialSort ?? (first ? { column: first.id, direction: 'asc' } : null))
  const [held, setHeld] = useState<readonly string[] | null>(null)

  const sorter = columns.find((column) => column.id === sort?.column)?.sort
  const sorted = sort && sorter ? sortRows(props.rows, sorter, sort.direction) : [...props.rows]
  const ordered = held ? keepOrder(sorted, held, rowKey) : sorted
  const rows = groupBy ? sortRows(ordered, groupBy, 'asc') : ordered
  const rowsNow = useRef(rows)
  rowsNow.current = rows
  // A list never moves under the pointer.
  const hold = { onPointerEnter: () => setHeld(rowsNow.current.map(rowKey)), onPointerLeave: () => setHeld(null) }

  const press = (column: Column<Row>) => {
    setHeld(null)
    setSort(
      sort?.column === column.id && sort.direction === 'asc'
        ? { column: column.id, direction: 'desc' }
        : { column: column.id, direction: 'asc' },
    )
  }
  const frame = cx('min-w-0 bg-surface', !flush && 'overflow-clip rounded-box border border-line')

  const shown = columns.filter((column) => column.only !== 'narrow')
  const body = useRef<HTMLTableSectionElement>(null)
  const visible = useVisibleRows(withGroups(rows, groupBy), body, (item) =>
    'group' in item ? 1 : 1 + (below?.(item.row)?.lines ?? 0),
  )

  if (narrow)
    return (
      <div className={frame}>
        <NarrowRows {...props} rows={rows} />
        {footer}
      </div>
    )
  return (
    <div className={frame}>
      {/* What is placed absolutely inside must scroll with the table and not widen the page. */}
      <div className="@container relative overflow-x-auto">
        <table aria-label={label} className="w-full border-collapse">
          <thead>
            <tr>
              {shown.map((column) => (
                <th
                  key={column.id}
                  scope="col"
                  aria-sort={
                    sort?.column === column.id && column.sort
                      ? sort.direction === 'asc'
                        ? 'ascending'
                        : 'descending'
                      : undefined
                  }
                  className={cx(
                    'h-8 border-b border-line px-3 text-left text-small font-medium whitespace-nowrap text-ink-3',
                    column.align === 'right' && 'text-right',
                  )}
                >
                  {column.sort ? <SortButton column={column} sort={sort} press={press} /> : column.header}
                </th>
              ))}
              {(actions || rowButton) && (
                <th scope="col" className="h-8 w-px border-b border-line">
                  <span className="sr-only">{t('table.actions')}</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody ref={body} {...hold}>
            {visible.before > 0 && <tr aria-hidden style={{ height: visible.before }} />}
            {visible.items.map((item) =>
              'group' in item ? (
                <tr key={`group ${item.group}`} className="border-b border-line bg-sunken">
                  <th
                    scope="rowgroup"
                    colSpan={shown.length + (actions || rowButton ? 1 : 0)}
                    className="h-9 px-3 text-left text-small font-medium text-ink-2"
                  >
                    {item.group ? <code>{item.group}</code> : noGroup}{' '}
                    <span className="text-ink-3 tabular-nums">{item.count}</span>
                  </th>
                </tr>
              ) : (
                <Fragment key={rowKey(item.row)}>
                  <tr
                    onClick={openRow}
                    onAuxClick={openRow}
                    className={cx(
                      'group border-b border-line last:border-0 hover:bg-hover has-[a[data-row-link]]:cursor-pointer',
                      tints[tint?.(item.row) ?? 'none'],
                    )}
                  >
                    {shown.map((column) => (
                      <td
                        key={column.id}
                        className={cx(
                          'h-9 px-3 whitespace-nowrap',
                          column.align === 'right' && 'text-right tabular-nums',
                          column.grow
                            ? 'w-full max-w-0 truncate'
                            : 'max-w-[max(16rem,22vw)] overflow-x-clip text-ellipsis [&>.inline-flex]:max-w-full [&>.inline-flex>a]:truncate',
                        )}
                      >
                        {column.cell(item.row)}
                      </td>
                    ))}
                    {(actions || rowButton) && (
                      // The actions of a row stay visible if the table is wider than its container.
                      <td className="sticky right-0 h-9 w-px bg-inherit px-2 text-right whitespace-nowrap">
                        <RowActions actions={actions?.(item.row) ?? []} button={rowButton?.(item.row)} />
                      </td>
                    )}
                  </tr>
                  <Below content={below?.(item.row)?.content} columns={shown.length + (actions || rowButton ? 1 : 0)} />
                </Fragment>
              ),
            )}
            {visible.after > 0 && <tr aria-hidden style={{ height: visible.after }} />}
          </tbody>
        </table>
      </div>
      {footer}
    </div>
  )
}

function Below({ content, columns }: { content: ReactNode; columns: number }) {
  if (!content) return null
  return (
    <tr className="border-b border-line bg-sunken last:border-0">
      <td colSpan={columns} className="max-w-0">
        {/* It is as wide as what is visible of a table that scrolls. */}
        <div className="sticky left-0 w-[100cqw] px-3">{content}</div>
      </td>
    </tr>
  )
}

type SortProps<Row> = { column: Column<Row>; sort: Sort | null; press: (column: Column<Row>) => void }

function SortButton<Row>({ column, sort, press }: SortProps<Row>) {
  const on = sort?.column === column.id
  const Arrow = on && sort.direction === 'desc' ? ArrowDown : ArrowUp
  return (
    <button
      type="button"
      onClick={() => press(column)}
      className="inline-flex items-center gap-1 rounded-sm hover:text-ink"
    >
      {column.header}
      {on && <Arrow aria-hidden className="size-3!" />}
    </button>
  )
}

function RowActions({ actions, button }: { actions: readonly RowAction[]; button?: ReactNode }) {
  return (
    <div className="flex items-center justify-end gap-0.5">
      {button}
      {actions.map(
        ({ id, inline, icon, label, disabledReason, run }) =>
          inline &&
          icon && (
            <IconButton key={id} icon={icon} label={label} size="sm" disabledReason={disabledReason} onClick={run} />
          ),
      )}
      <ActionMenu size="sm" actions={actions.filter((action) => !action.inline)} />
    </div>
  )
}
