import type { App } from '../context.ts'

type Which = { teamId: string; projectId: string }

export const projectCreated = (app: App, which: Which) => app.log.info(which, 'project created')
export const projectRemoved = (app: App, which: Which) => app.log.info(which, 'project removed')
