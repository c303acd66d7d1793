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

type VersionOperation = Exclude<Extract<keyof Handlers, `versions.${string}`>, 'versions.import' | 'versions.compose'>

export function versionRoutes(app: App, listImages: ListImages): Handlers<VersionOperation> {
  return {
    'versions.list': ({ caller, params, query }) => listVersions(app, caller, params.projectId, query.nameContains),
    'versions.get': ({ caller, params }) => getVersion(app, listImages, caller, params),
    'versions.create': ({ caller, params, body }) => createVersion(app, caller, params.projectId, body),
    'versions.update': ({ caller, params, body }) => changeVersion(app, caller, params, body),
    'versions.delete': async ({ caller, params, query, audited }) => {
      const containers = query.containers === 'true'
      const removed = await removeVersion(app, caller, params, { containers })
      if (containers) audited({ removedContainers: removed.map(toRunningContainers) })
    },
    'versions.running': ({ caller, params }) => listRunningOfVersion(app, caller, params),
    'versions.default': ({ caller, params }) => makeDefault(app, caller, params),
    'versions.increase': ({ caller, params, body }) => increaseVersion(app, caller, params, body),
  }
}
