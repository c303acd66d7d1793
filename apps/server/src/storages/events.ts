import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

type Which = { teamId: string; storageId: string }

export const storageConnected = (app: App, which: Which) => recordEvent(app, which, 'storage connected')
export const storageChanged = (app: App, which: Which) => recordEvent(app, which, 'storage changed')
export const storageRemoved = (app: App, which: Which) => recordEvent(app, which, 'storage removed')
