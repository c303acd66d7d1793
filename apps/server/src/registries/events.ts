import type { RegistryType } from '@crux/contract'
import type { App } from '../context.ts'

type Which = { teamId: string; registryId: string }

export const registryConnected = (app: App, which: Which & { type: RegistryType }) =>
  app.log.info(which, 'registry connected')
export const registryChanged = (app: App, which: Which & { type: RegistryType }) =>
  app.log.info(which, 'registry changed')
export const registryRemoved = (app: App, which: Which) => app.log.info(which, 'registry removed')
