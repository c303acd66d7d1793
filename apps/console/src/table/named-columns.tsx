import type { LinkProps } from '@tanstack/react-router'
import type { ReactNode } from 'react'
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
