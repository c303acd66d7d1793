import type { App } from '../context.ts'
import { toRunningContainers } from '../deployments/index.ts'
import type { Handlers } from '../http/index.ts'
import {
  changeProject,
  convertProject,
  createProject,
  getProject,
  listProjects,
  listRunningOfProject,
  type ProjectVersions,
  removeProject,
} from './actions.ts'

type ProjectOperation = Exclude<
  Extract<keyof Handlers, `projects.${string}`>,
  'projects.import' | 'projects.run' | 'projects.version-chains'
>

export function projectRoutes(app: App, versions: ProjectVersions): Handlers<ProjectOperation> {
  return {
    'projects.list': ({ caller }) => listProjects(app, caller),
    'projects.get': ({ caller, params }) => getProject(app, versions, caller, params.projectId),
    'projects.create': ({ caller, body }) => createProject(app, versions, caller, body),
    'projects.update': ({ caller, params, body }) => changeProject(app, caller, params.projectId, body),
    'projects.delete': async ({ caller, params, query, audited }) => {
      const containers = query.containers === 'true'
      const removed = await removeProject(app, caller, params.projectId, { containers })
      if (containers) audited({ removedContainers: removed.map(toRunningContainers) })
    },
    'projects.running': ({ caller, params }) => listRunningOfProject(app, caller, params.projectId),
    'projects.convert': ({ caller, params }) => convertProject(app, caller, params.projectId),
  }
}
