import { useSyncExternalStore } from 'react'
import { createStore } from './create-store.ts'

export const themes = ['system', 'light', 'dark'] as const
export type Theme = (typeof themes)[number]

const key = 'crux-theme'
const store = createStore<Theme>(themes.find((theme) => theme === stored()) ?? 'system')
const dark = matchMedia('(prefers-color-scheme: dark)')

/** Remembered as plain text, because start.js reads it before the first paint. */
export function setTheme(theme: Theme): void {
  store.set(theme)
  try {
    localStorage.setItem(key, theme)
  } catch {
    // The page works without the stored choice.
  }
  apply()
}

export const useTheme = (): Theme => useSyncExternalStore(store.subscribe, store.get)

dark.addEventListener('change', apply)

function apply(): void {
  const theme = store.get()
  document.documentElement.dataset.theme = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme
}

function stored(): string | null {
  try {
    return localStorage.getItem(key)
  } catch {
    return null
  }
}
