import type { App } from '../context.ts'

type Change = {
  configId: string
  revision: number
  origin: string | undefined
  /** Set for a bundle's layer, because the deployments with this bundle have another base now. */
  configBundleId: string | undefined
}

/** Call after the commit: pages that show this configuration, or a layer above it, read it again. */
export function configChanged(app: App, { configBundleId, ...change }: Change) {
  app.log.debug(change, 'configuration changed')
  app.bus.publish({ type: 'config.changed', ...change })
  if (configBundleId) app.bus.publish({ type: 'config-bundle.changed', configBundleId })
}
