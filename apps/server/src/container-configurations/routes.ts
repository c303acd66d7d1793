import type { App } from '../context.ts'
import type { Handlers } from '../http/handlers.ts'
import { getConfigDetails, patchConfig } from './actions.ts'
import { getRelations } from './relations.ts'

export const containerConfigurationRoutes = (
  app: App,
): Handlers<
  'container-configurations.get' | 'container-configurations.relations' | 'container-configurations.update'
> => ({
  'container-configurations.get': ({ team, params }) => getConfigDetails(app, team, params.configId),
  'container-configurations.relations': ({ team, params }) => getRelations(app, team, params.configId),
  'container-configurations.update': async ({ team, actor, params, body }) => {
    await patchConfig(app, { team, actor }, params.configId, body)
    return undefined
  },
})
