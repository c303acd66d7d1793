import { newId } from '@crux/config-editor'
import { useState } from 'react'

type Row = { id?: string }

/**
 * The rows of a list inside a setting, followed by one empty row: filling it adds the next, emptying a row removes
 * it. The empty row exists only on this page.
 */
export function useTrailingRow<R extends Row>(
  rows: readonly R[],
  options: { blank: (id: string) => R; isBlank: (row: R) => boolean; onChange: (rows: R[]) => void },
) {
  const [spare, setSpare] = useState(newId)
  const { blank, isBlank, onChange } = options
  return {
    rows: [...rows, blank(spare)],
    isSpare: (index: number) => index === rows.length,
    set(index: number, part: Partial<R>) {
      if (index === rows.length) {
        const row = { ...blank(spare), ...part }
        if (isBlank(row)) return
        setSpare(newId())
        onChange([...rows, row])
        return
      }
      onChange(
        rows.flatMap((row, at) => (at !== index ? [row] : isBlank({ ...row, ...part }) ? [] : [{ ...row, ...part }])),
      )
    },
    remove: (index: number) => onChange(rows.filter((_, at) => at !== index)),
    /** Several rows in place of one. */
    replace(index: number, next: readonly R[]) {
      setSpare(newId())
      onChange([...rows.slice(0, index), ...next, ...rows.slice(index + 1)])
    },
  }
}
