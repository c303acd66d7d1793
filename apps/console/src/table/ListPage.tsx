import type { UseQueryResult } from '@tanstack/react-query'
import { type LucideIcon, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../components/Button.tsx'
import { EmptyState } from '../components/EmptyState.tsx'
import { PageHeader } from '../components/PageHeader.tsx'
import { QueryView } from '../components/QueryView.tsx'
import { SkeletonRows } from '../components/Skeletons.tsx'
import { useAnchor } from '../routing/use-anchor.ts'

type Props<Row> = {
  query: UseQueryResult<Row[]>
  title: string
  /** The line below the title, once the rows are here. */
  subtitle: (rows: Row[]) => ReactNode
  /** The one main action: it opens the form, in the head or, where nothing is there yet, in its place. */
  add: { label: string; denied: string | null; form: (onClose: () => void) => ReactNode }
  empty: { icon: LucideIcon; title: string; text: string }
  skeleton?: ReactNode
  /** The rows, never none. */
  children: (rows: Row[]) => ReactNode
}

/** The page of a list that is here as a whole: head, every state of it, and the form that adds to it (#new). */
export function ListPage<Row>({ query, title, subtitle, add, empty, skeleton, children }: Props<Row>) {
  const { data: rows } = query
  const anchor = useAnchor('new')
  const button = (
    <Button variant="main" icon={Plus} disabledReason={add.denied} onClick={anchor.show}>
      {add.label}
    </Button>
  )
  return (
    <>
      <PageHeader
        title={title}
        subtitle={rows ? rows.length > 0 && subtitle(rows) : '\u00a0'}
        actions={rows?.length !== 0 && button}
      />
      <QueryView
        query={query}
        skeleton={skeleton ?? <SkeletonRows filters />}
        empty={{ when: (found) => found.length === 0, show: <EmptyState {...empty} action={button} /> }}
      >
        {children}
      </QueryView>
      {anchor.open && !add.denied && add.form(anchor.close)}
    </>
  )
}
