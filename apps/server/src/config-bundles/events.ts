import type { App } from '../context.ts'
import { recordEvent } from '../system/index.ts'

type BundleIds = { teamId: string; configBundleId: string }

export const bundleCreated = (app: App, which: BundleIds) => recordEvent(app, which, 'config bundle created')
export const bundleRemoved = (app: App, which: BundleIds) => recordEvent(app, which, 'config bundle removed')

/** Pages of the deployments with this bundle show its name. */
export function bundleRenamed(app: App, which: BundleIds) {
  recordEvent(app, which, 'config bundle changed')
  app.bus.publish({ type: 'config-bundle.changed', configBundleId: which.configBundleId })
}
