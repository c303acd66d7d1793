import { useSyncExternalStore } from 'react'

/** The frame's one break: below it the sidebar is a sheet and tables are lists. Must agree with `wide` in app.css. */
const narrow = matchMedia('(width < 768px)')
const subscribe = (listener: () => void) => {
  narrow.addEventListener('change', listener)
  return () => narrow.removeEventListener('change', listener)
}

export const useNarrow = (): boolean => useSyncExternalStore(subscribe, () => narrow.matches)
