import type { useSettings } from './use-settings.ts'

export type Settings = ReturnType<typeof useSettings>
