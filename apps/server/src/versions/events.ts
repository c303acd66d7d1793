import type { App } from '../context.ts'

type Which = { teamId: string; projectId: string; versionId: string }

export const versionCreated = (app: App, which: Which & { parentId?: string }) => app.log.info(which, 'version created')
export const versionRemoved = (app: App, which: Which) => app.log.info(which, 'version removed')
