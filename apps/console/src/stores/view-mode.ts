import { useSyncExternalStore } from 'react'
import { createPersistedStore } from './create-store.ts'

export type ViewMode = 'tile' | 'list'
/** Lists that can be shown as tiles or as a table, with their defaults. */
const defaults = {
  projects: 'tile',
  versions: 'list',
  deployments: 'list',
  images: 'list',
  instances: 'list',
} satisfies Record<string, ViewMode>
export type ViewModeKey = keyof typeof defaults

const store = createPersistedStore<Record<ViewModeKey, ViewMode>>('persisted-view-mode', defaults, (raw) =>
  typeof raw === 'object' && raw !== null ? { ...defaults, ...onlyModes(raw) } : undefined,
)

export function useViewMode(key: ViewModeKey): [ViewMode, (mode: ViewMode) => void] {
  const modes = useSyncExternalStore(store.subscribe, store.get)
  return [modes[key], (mode) => store.set({ ...store.get(), [key]: mode })]
}

function onlyModes(raw: object): Partial<Record<ViewModeKey, ViewMode>> {
  return Object.fromEntries(
    Object.entries(raw).filter(([key, mode]) => key in defaults && (mode === 'tile' || mode === 'list')),
  )
}
