import type { App } from '../context.ts'

type Which = { teamId: string; configBundleId: string }

export const bundleCreated = (app: App, which: Which) => app.log.info(which, 'config bundle created')
export const bundleRemoved = (app: App, which: Which) => app.log.info(which, 'config bundle removed')

/** Its name stands on the pages of the deployments that carry it. */
export function bundleRenamed(app: App, which: Which) {
  app.log.info(which, 'config bundle changed')
  app.bus.publish({ type: 'config-bundle.changed', configBundleId: which.configBundleId })
}
