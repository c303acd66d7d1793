import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { getConfigDetails, patchConfig } from './actions.ts'
import { listChoices } from './choice-store.ts'
import { copyConfig, getRevision, listHistory, restoreRevision } from './history.ts'
import { getRelations } from './relation-store.ts'

type Operations = Extract<keyof Handlers, `container-configurations.${string}`>

export const containerConfigurationRoutes = (app: App): Handlers<Operations> => ({
  'container-configurations.list': ({ caller, query }) => listChoices(app, caller, query),
  'container-configurations.get': ({ caller, params }) => getConfigDetails(app, caller, params.configId),
  'container-configurations.relations': ({ caller, params }) => getRelations(app, caller, params.configId),
  'container-configurations.update': async ({ caller, params, body }) =>
    void (await patchConfig(app, caller, params.configId, body)),
  'container-configurations.history': ({ caller, params, query }) => listHistory(app, caller, params.configId, query),
  'container-configurations.get-revision': ({ caller, params }) =>
    getRevision(app, caller, params.configId, params.revision),
  'container-configurations.restore': ({ caller, params, body }) =>
    restoreRevision(app, caller, params.configId, { revision: params.revision, seen: body?.revision }),
  'container-configurations.copy': ({ caller, params, body }) => copyConfig(app, caller, params.configId, body),
})
