import type { RegistryType } from '@crux/contract'
import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

type Which = { teamId: string; registryId: string }

export const registryConnected = (app: App, which: Which & { type: RegistryType }) =>
  recordEvent(app, which, 'registry connected')
export const registryChanged = (app: App, which: Which & { type: RegistryType }) =>
  recordEvent(app, which, 'registry changed')
export const registryRemoved = (app: App, which: Which) => recordEvent(app, which, 'registry removed')
