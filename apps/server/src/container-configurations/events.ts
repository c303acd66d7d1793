import type { App } from '../context.ts'

type Change = {
  configId: string
  revision: number
  origin: string | undefined
  /** Set where the layer is a bundle's: deployments that carry it show another base now. */
  configBundleId: string | undefined
}

/** After the commit: everyone who looks at this configuration, or at what lies over it, reads it again. */
export function configChanged(app: App, { configBundleId, ...change }: Change) {
  app.log.debug(change, 'configuration changed')
  app.bus.publish({ type: 'config.changed', ...change })
  if (configBundleId) app.bus.publish({ type: 'config-bundle.changed', configBundleId })
}
