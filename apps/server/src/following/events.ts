import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

/** Call after the commit: log, metrics and open pages get the change together. */
export function followingChanged(
  app: Pick<App, 'log' | 'metrics' | 'bus'>,
  fields: { deploymentId: string } & Record<string, unknown>,
  message: string,
): void {
  recordEvent(app, fields, message)
  app.bus.publish({ type: 'deployment.following', deploymentId: fields.deploymentId })
}
