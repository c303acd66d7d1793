import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { changeBundle, createBundle, getBundle, listBundles, removeBundle } from './actions.ts'

type Operations = Exclude<Extract<keyof Handlers, `config-bundles.${string}`>, 'config-bundles.deployments'>

export const configBundleRoutes = (app: App): Handlers<Operations> => ({
  'config-bundles.list': ({ caller }) => listBundles(app, caller),
  'config-bundles.get': ({ caller, params }) => getBundle(app, caller, params.configBundleId),
  'config-bundles.create': ({ caller, body }) => createBundle(app, caller, body),
  'config-bundles.update': ({ caller, params, body }) => changeBundle(app, caller, params.configBundleId, body),
  'config-bundles.delete': ({ caller, params }) => removeBundle(app, caller, params.configBundleId),
})
