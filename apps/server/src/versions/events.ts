import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

type Which = { teamId: string; projectId: string; versionId: string }

export const versionCreated = (app: App, which: Which & { parentId?: string }) =>
  recordEvent(app, which, 'version created')
export const versionRemoved = (app: App, which: Which) => recordEvent(app, which, 'version removed')
