import type { App } from '../context.ts'

/** After the commit: everyone who looks at this configuration reads it again. */
export function configChanged(app: App, change: { configId: string; revision: number; origin: string | undefined }) {
  app.log.debug(change, 'configuration changed')
  app.bus.publish({ type: 'config.changed', ...change })
}
