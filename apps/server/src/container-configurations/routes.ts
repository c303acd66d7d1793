import type { App } from '../context.ts'
import type { Handlers } from '../http/index.ts'
import { getConfigDetails, patchConfig } from './actions.ts'
import { listChoices } from './choice-store.ts'
import { copyConfig, getRevision, listHistory, restoreRevision } from './history.ts'
import { getRelations } from './relation-store.ts'

type Operations = Extract<keyof Handlers, `container-configurations.${string}`>

export const containerConfigurationRoutes = (app: App): Handlers<Operations> => ({
  'container-configurations.list': ({ team, query }) => listChoices(app, team, query),
  'container-configurations.get': ({ team, params }) => getConfigDetails(app, team, params.configId),
  'container-configurations.relations': ({ team, params }) => getRelations(app, team, params.configId),
  'container-configurations.update': async ({ team, actor, params, body }) => {
    await patchConfig(app, { team, actor }, params.configId, body)
    return undefined
  },
  'container-configurations.history': ({ team, params, query }) => listHistory(app, team, params.configId, query),
  'container-configurations.get-revision': ({ team, params }) =>
    getRevision(app, team, params.configId, params.revision),
  'container-configurations.restore': async ({ team, actor, params, body }) => {
    const wanted = { revision: params.revision, seen: body?.revision }
    await restoreRevision(app, { team, actor }, params.configId, wanted)
    return undefined
  },
  'container-configurations.copy': async ({ team, actor, params, body }) => {
    await copyConfig(app, { team, actor }, params.configId, body)
    return undefined
  },
})
