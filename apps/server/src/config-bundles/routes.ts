import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { changeBundle, createBundle, getBundle, listBundles, removeBundle } from './actions.ts'

type Operations = Exclude<Extract<keyof Handlers, `config-bundles.${string}`>, 'config-bundles.deployments'>

export const configBundleRoutes = (app: App): Handlers<Operations> => ({
  'config-bundles.list': ({ team }) => listBundles(app, team),
  'config-bundles.get': ({ team, params }) => getBundle(app, team, params.configBundleId),
  'config-bundles.create': ({ team, actor, body }) => createBundle(app, { team, actor }, body),
  'config-bundles.update': async ({ team, actor, params, body }) => {
    await changeBundle(app, { team, actor }, params.configBundleId, body)
    return undefined
  },
  'config-bundles.delete': async ({ team, params }) => {
    await removeBundle(app, team, params.configBundleId)
    return undefined
  },
})
