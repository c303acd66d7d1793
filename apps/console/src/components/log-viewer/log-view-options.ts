import { useSyncExternalStore } from 'react'
import { createPersistedStore } from '../../stores/create-store.ts'

export type LogViewOptions = { wrap: boolean; times: boolean }

/** How a person likes to read logs; the same on every page. */
const store = createPersistedStore<LogViewOptions>('crux-log-view', { wrap: false, times: true }, (raw) =>
  typeof raw === 'object' &&
  raw !== null &&
  'wrap' in raw &&
  typeof raw.wrap === 'boolean' &&
  'times' in raw &&
  typeof raw.times === 'boolean'
    ? { wrap: raw.wrap, times: raw.times }
    : undefined,
)

export function useLogViewOptions(): [LogViewOptions, (change: Partial<LogViewOptions>) => void] {
  const options = useSyncExternalStore(store.subscribe, store.get)
  return [options, (change) => store.set({ ...options, ...change })]
}
