import { useSyncExternalStore } from 'react'

/** The frame's one break: below it the sidebar is a sheet and tables are lists. Must agree with `wide` in app.css. */
const narrow = watchMedia('(width < 768px)')
/** Two columns side by side leave too little room for an unwrapped line of a log. */
const tight = watchMedia('(width < 1600px)')

export const useNarrow = (): boolean => useSyncExternalStore(narrow.subscribe, narrow.matches)
export const useTight = (): boolean => useSyncExternalStore(tight.subscribe, tight.matches)

function watchMedia(query: string) {
  const media = matchMedia(query)
  return {
    subscribe: (listener: () => void) => {
      media.addEventListener('change', listener)
      return () => media.removeEventListener('change', listener)
    },
    matches: () => media.matches,
  }
}
