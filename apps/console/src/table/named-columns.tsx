import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { RelativeTime } from '../components/RelativeTime.tsx'
import { TextLink } from '../components/TextLink.tsx'
import type { Column } from './columns.ts'

/** The name of what a row is about; it leads to its page. */
export function nameColumn<Row extends { name: string }>(
  header: string,
  link: (row: Row) => LinkProps,
  icon?: (row: Row) => ReactNode,
): Column<Row> {
  const name = (row: Row) => (
    <TextLink {...link(row)} strong>
      {row.name}
    </TextLink>
  )
  return {
    id: 'name',
    header,
    narrow: 'title',
    sort: (row) => row.name,
    cell: icon
      ? (row) => (
          <span className="inline-flex items-center gap-2">
            <span className="text-ink-3">{icon(row)}</span>
            {name(row)}
          </span>
        )
      : name,
  }
}

export const descriptionColumn = <Row extends { description?: string | null }>(header: string): Column<Row> => ({
  id: 'description',
  header,
  grow: true,
  cell: (row) => <span className="text-ink-2">{row.description}</span>,
})

/** The last column of most lists: how long ago something happened. */
export const timeColumn = <Row,>(
  id: string,
  header: ReactNode,
  at: (row: Row) => string | null | undefined,
): Column<Row> => ({
  id,
  header,
  align: 'right',
  narrow: 'end',
  sort: at,
  cell: (row) => <RelativeTime at={at(row)} />,
})

/** A count, which a phone has no room for. */
export const numberColumn = <Row,>(
  id: string,
  header: string,
  count: (row: Row) => number | undefined,
): Column<Row> => ({
  id,
  header,
  align: 'right',
  narrow: 'none',
  sort: count,
  cell: count,
})

/** An exact value: an address, a prefix, a version. */
export const codeColumn = <Row,>(
  id: string,
  header: string,
  value: (row: Row) => string | null | undefined,
): Column<Row> => ({
  id,
  header,
  sort: value,
  cell: (row) => (
    <span className="mono text-ink-2" data-no-value={!value(row) || undefined}>
      {value(row) || '-'}
    </span>
  ),
})
