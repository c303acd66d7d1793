import { useEffect, useRef, useState } from 'react'

/** Focuses a new row: rows have `data-row` with their id. */
export function useFocusRow<E extends HTMLElement>() {
  const rows = useRef<E>(null)
  const [begun, setBegun] = useState<string | null>(null)
  useEffect(() => {
    const input = begun && rows.current?.querySelector<HTMLInputElement>(`[data-row="${begun}"] input`)
    if (!input) return
    input.focus()
    setBegun(null)
  })
  return { rows, focusRow: setBegun }
}
