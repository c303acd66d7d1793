import { useSyncExternalStore } from 'react'
import { createPersistedStore } from './create-store.ts'

const collapsed = createPersistedStore('crux-sidebar-collapsed', false, (raw) =>
  typeof raw === 'boolean' ? raw : undefined,
)

export const useSidebarCollapsed = (): boolean => useSyncExternalStore(collapsed.subscribe, collapsed.get)
export const toggleSidebar = (): void => collapsed.set(!collapsed.get())
