import { cx } from '../components/class-names.ts'
import { ActionMenu } from '../components/Menu.tsx'
import { type Column, type TableProps, tints } from './columns.ts'
import { openRow } from './open-row.ts'
import { withGroups } from './row-groups.ts'

/** A table's rows on a phone: the state first, then the name, then the rest in one line. */
export function NarrowRows<Row>(props: TableProps<Row>) {
  const { label, rows, columns, rowKey, actions, rowButton, tint, below, groupBy, noGroup } = props
  const placed = (place: NonNullable<Column<Row>['narrow']>) =>
    columns.filter((column) => (column.narrow ?? 'detail') === place)
  const lead = placed('lead')
  const end = placed('end')
  const title = placed('title')
  const detail = placed('detail')
  // Without a state to lead, the name takes the first line.
  const first = lead.length > 0 ? lead : title
  const second = lead.length > 0 ? title : []
  return (
    <ul aria-label={label}>
      {withGroups(rows, groupBy).map((item) =>
        'group' in item ? (
          <li key={`group ${item.group}`} className="border-b border-line bg-sunken px-3 py-1.5 text-small text-ink-2">
            {item.group ? <code>{item.group}</code> : noGroup}{' '}
            <span className="text-ink-3 tabular-nums">{item.count}</span>
          </li>
        ) : (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keyboards use the link of the row itself.
          <li
            key={rowKey(item.row)}
            onClick={openRow}
            className={cx(
              // Of hundreds only those near the window are laid out.
              '[content-visibility:auto] [contain-intrinsic-size:auto_82px]',
              'flex gap-2 border-b border-line px-3 py-2.5 last:border-0 [&_a]:inline-flex [&_a]:min-h-6 [&_a]:items-center',
              tints[tint?.(item.row) ?? 'none'],
            )}
          >
            <div className="min-w-0 flex-1">
              {first.length + end.length > 0 && (
                <div className="flex items-center gap-2">
                  <Cells row={item.row} columns={first} />
                  <span className="ml-auto shrink-0 text-small text-ink-2">
                    <Cells row={item.row} columns={end} />
                  </span>
                </div>
              )}
              <div className="flex flex-wrap items-center gap-x-2 empty:hidden">
                <Cells row={item.row} columns={second} />
              </div>
              {detail.length > 0 && (
                <div className="flex flex-wrap items-center gap-x-2 text-small text-ink-2">
                  <Cells row={item.row} columns={detail} />
                </div>
              )}
              {rowButton && <div className="mt-1 empty:hidden">{rowButton(item.row)}</div>}
              {below && <div className="mt-1 empty:hidden">{below(item.row)?.content}</div>}
            </div>
            {actions && <ActionMenu actions={actions(item.row)} />}
          </li>
        ),
      )}
    </ul>
  )
}

/** Each in an element of its own: two bare texts would run into one word. A dash for a missing value means nothing without its column. */
function Cells<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  return columns.map((column) => (
    <span key={column.id} className="min-w-0 empty:hidden has-[>[data-no-value]]:hidden">
      {column.cell(row)}
    </span>
  ))
}
