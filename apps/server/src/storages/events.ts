import type { App } from '../context.ts'

type Which = { teamId: string; storageId: string }

export const storageConnected = (app: App, which: Which) => app.log.info(which, 'storage connected')
export const storageChanged = (app: App, which: Which) => app.log.info(which, 'storage changed')
export const storageRemoved = (app: App, which: Which) => app.log.info(which, 'storage removed')
