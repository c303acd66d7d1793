import { useRef } from 'react'

/**
 * The attributes of an element that fades once when its value changes on the open page, and not when it is first shown: the key makes it a new
 * element with each value.
 */
export function useChanged(value: string): { key: string; className: string | undefined } {
  const first = useRef(value)
  return { key: value, className: first.current === value ? undefined : 'changed' }
}
