import type { ReactNode } from 'react'
import type { Action } from '../components/Menu.tsx'
import type { Sort, SortValue } from './sort-rows.ts'

export type Column<Row> = {
  id: string
  header: ReactNode
  cell: (row: Row) => ReactNode
  /** Makes the column sortable in the browser. */
  sort?: (row: Row) => SortValue
  align?: 'right'
  /** Its place below 768 px, where a row has a first line (lead ... end), a title line and a detail line. */
  narrow?: 'lead' | 'end' | 'title' | 'detail' | 'none'
  /** Takes the room that is left and is cut. */
  grow?: boolean
  /** A cell that replaces others below 768 px and is left out above. */
  only?: 'narrow'
}

/** An action of a row; `inline` ones are icons on the row, the others are in its menu (on narrow screens all are). */
export type RowAction = Action & { inline?: boolean }

export type TableProps<Row> = {
  label: string
  rows: readonly Row[]
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string
  actions?: (row: Row) => readonly RowAction[]
  /** A button on the row itself, before the icons: "Deploy again". */
  rowButton?: (row: Row) => ReactNode
  tint?: (row: Row) => 'failed' | 'progress' | undefined
  /** null: the rows come in their order, and no header sorts them. */
  initialSort?: Sort | null
  /** Rows of one group are together below its name; groups are sorted by name. */
  groupBy?: (row: Row) => string
  /** The heading of the rows without a group, which come last. */
  noGroup?: string
  /** What is folded out below a row. `lines`: how many rows of the table it is as high as, about. */
  below?: (row: Row) => { lines: number; content: ReactNode } | undefined
  footer?: ReactNode
  /** Without border, for a table inside a Box. */
  flush?: boolean
}

/** Opaque, because the cell overlaps the others. */
export const tints = {
  none: 'bg-surface',
  failed: 'bg-[color-mix(in_oklab,var(--state-failed)_8%,var(--surface))]',
  progress: 'bg-[color-mix(in_oklab,var(--state-progress)_10%,var(--surface))]',
}
