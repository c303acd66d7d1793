import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

type Which = { teamId: string; projectId: string }

export const projectCreated = (app: App, which: Which) => recordEvent(app, which, 'project created')
export const projectRemoved = (app: App, which: Which) => recordEvent(app, which, 'project removed')
