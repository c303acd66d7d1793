import { useSyncExternalStore } from 'react'
import { createPersistedStore } from '../../stores/create-store.ts'

export type LogViewOptions = { wrap: boolean; times: boolean }
/** `wrap` is null until the user chooses; each view has its own default. */
type StoredOptions = { wrap: boolean | null; times: boolean }

/** The user's settings for logs; the same on every page. */
const store = createPersistedStore<StoredOptions>('crux-log-view', { wrap: null, times: true }, (raw) =>
  typeof raw === 'object' &&
  raw !== null &&
  'wrap' in raw &&
  (typeof raw.wrap === 'boolean' || raw.wrap === null) &&
  'times' in raw &&
  typeof raw.times === 'boolean'
    ? { wrap: raw.wrap, times: raw.times }
    : undefined,
)

export function useLogViewOptions(wrapsAtFirst: boolean): [LogViewOptions, (change: Partial<LogViewOptions>) => void] {
  const options = useSyncExternalStore(store.subscribe, store.get)
  return [{ ...options, wrap: options.wrap ?? wrapsAtFirst }, (change) => store.set({ ...options, ...change })]
}
