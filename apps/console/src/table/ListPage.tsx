import type { UseQueryResult } from '@tanstack/react-query'
import { type LucideIcon, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../components/Button.tsx'
import { EmptyState } from '../components/EmptyState.tsx'
import { PageHeader } from '../components/PageHeader.tsx'
import { QueryView } from '../components/QueryView.tsx'
import { SkeletonRows } from '../components/Skeletons.tsx'
import { useAnchor } from '../routing/use-anchor.ts'
import type { TableProps } from './columns.ts'
import { DataTable } from './DataTable.tsx'
import { FilteredList, type FilteredListProps } from './FilteredList.tsx'

type Props<Row, Value extends string> = Pick<
  TableProps<Row>,
  'columns' | 'actions' | 'rowButton' | 'tint' | 'initialSort'
> &
  Omit<FilteredListProps<Row, Value>, 'rows' | 'extra' | 'children'> & {
    query: UseQueryResult<Row[]>
    title: string
    /** The line below the title, once the rows are here. */
    subtitle: (rows: Row[]) => ReactNode
    /** The one main action: it opens the form, in the head or, where nothing is there yet, in its place. */
    add: { label: string; denied: string | null | false; form: (onClose: () => void) => ReactNode }
    /** Another way to add something, beside the main one. */
    more?: ReactNode
    /** Absent for a list that is never empty. */
    /** `action`: another way to begin, before the main action. */
    empty?: { icon: LucideIcon; title: string; text: string; action?: ReactNode }
    skeleton?: ReactNode
    /** Cards in place of the table. */
    cards?: ((rows: Row[]) => ReactNode) | undefined
  }

/** The page of a list that is here as a whole: head, every state of it, search, table, and the form that adds to it (#new). */
export function ListPage<Row extends { id: string }, Value extends string = never>(props: Props<Row, Value>) {
  const { query, title, subtitle, add, more, empty, skeleton, search, searchText, choice, trailing, cards, ...table } =
    props
  const { data: rows } = query
  const anchor = useAnchor('new')
  const button = (
    <Button variant="main" icon={Plus} disabledReason={add.denied} onClick={anchor.show}>
      {add.label}
    </Button>
  )
  const buttons = more ? (
    <>
      {more}
      {button}
    </>
  ) : (
    button
  )
  const isEmpty = empty && rows?.length === 0
  return (
    <>
      <PageHeader title={title} subtitle={rows ? !isEmpty && subtitle(rows) : '\u00a0'} actions={!isEmpty && buttons} />
      <QueryView
        query={query}
        skeleton={skeleton ?? <SkeletonRows filters />}
        empty={
          empty && (
            <EmptyState
              {...empty}
              action={
                <>
                  {empty.action}
                  {buttons}
                </>
              }
            />
          )
        }
      >
        {(all) => (
          <FilteredList {...{ search, searchText, choice, trailing }} rows={all}>
            {(found) =>
              cards ? cards(found) : <DataTable {...table} label={title} rows={found} rowKey={(row) => row.id} />
            }
          </FilteredList>
        )}
      </QueryView>
      {anchor.open && !add.denied && add.form(anchor.close)}
    </>
  )
}
