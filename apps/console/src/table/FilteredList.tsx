import { type ReactNode, useState } from 'react'
import { useTranslation } from 'react-i18next'
import { Chips } from '../components/Chips.tsx'
import { SearchBox } from '../components/SearchBox.tsx'
import { Filters } from './Filters.tsx'
import { filterRows } from './filter-rows.ts'
import { NoMatches } from './NoMatches.tsx'

export type FilteredListProps<Row, Value extends string> = {
  rows: readonly Row[]
  /** Name of the search box. */
  search: string
  /** What a typed text is looked for in. */
  searchText: (row: Row) => readonly (string | null | undefined)[]
  /** One property with few values, as chips; only values that occur are offered. */
  choice?: { label: string; of: (row: Row) => Value; values: readonly Value[]; optionLabel: (value: Value) => string }
  /** Text beside the search. */
  extra?: ReactNode
  trailing?: ReactNode
  /** The rows that are left, never none. */
  children: (rows: Row[]) => ReactNode
}

/** A list that is here as a whole, with its search and its chips above. */
export function FilteredList<Row, Value extends string = never>(props: FilteredListProps<Row, Value>) {
  const { rows, search, searchText, choice, extra, trailing, children } = props
  const { t } = useTranslation()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<Value | 'all'>('all')
  const count = (value: Value) => rows.filter((row) => choice?.of(row) === value).length
  const offered = choice?.values.filter((value) => value === chosen || count(value) > 0) ?? []
  const found = filterRows(rows, text, searchText).filter((row) => chosen === 'all' || choice?.of(row) === chosen)
  return (
    <>
      <Filters trailing={trailing}>
        <SearchBox label={search} value={text} onChange={setText} />
        {choice && offered.length > 1 && (
          <Chips<Value | 'all'>
            label={choice.label}
            value={chosen}
            onChange={setChosen}
            options={[
              { value: 'all', label: t('all'), count: rows.length },
              ...offered.map((value) => ({ value, label: choice.optionLabel(value), count: count(value) })),
            ]}
          />
        )}
        {extra}
      </Filters>
      {found.length > 0 ? (
        children(found)
      ) : (
        <NoMatches
          total={rows.length}
          onReset={() => {
            setText('')
            setChosen('all')
          }}
        />
      )}
    </>
  )
}
