import type { App } from '../context.ts'
import { toRunningContainers } from '../deployments/index.ts'
import type { Handlers } from '../http/index.ts'
import {
  changeVersion,
  createVersion,
  getVersion,
  increaseVersion,
  type ListImages,
  listRunningOfVersion,
  listVersions,
  makeDefault,
  removeVersion,
} from './actions.ts'

type VersionOperation =
  | 'versions.list'
  | 'versions.get'
  | 'versions.create'
  | 'versions.update'
  | 'versions.delete'
  | 'versions.running'
  | 'versions.default'
  | 'versions.increase'

export function versionRoutes(app: App, listImages: ListImages): Handlers<VersionOperation> {
  return {
    'versions.list': ({ team, params, query }) => listVersions(app, team, params.projectId, query.nameContains),
    'versions.get': ({ team, params }) => getVersion(app, listImages, team, params),
    'versions.create': ({ team, actor, params, body }) => createVersion(app, { team, actor }, params.projectId, body),
    'versions.update': async ({ team, actor, params, body }) =>
      void (await changeVersion(app, { team, actor }, params, body)),
    'versions.delete': async ({ team, actor, params, query, audited }) => {
      const containers = query.containers === 'true'
      const removed = await removeVersion(app, { team, actor }, params, { containers })
      if (containers) audited({ removedContainers: removed.map(toRunningContainers) })
      return undefined
    },
    'versions.running': ({ team, params }) => listRunningOfVersion(app, team, params),
    'versions.default': async ({ team, actor, params }) => void (await makeDefault(app, { team, actor }, params)),
    'versions.increase': ({ team, actor, params, body }) => increaseVersion(app, { team, actor }, params, body),
  }
}
