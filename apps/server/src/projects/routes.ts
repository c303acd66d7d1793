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

type ProjectOperation =
  | 'projects.list'
  | 'projects.get'
  | 'projects.create'
  | 'projects.update'
  | 'projects.delete'
  | 'projects.running'
  | 'projects.convert'

export function projectRoutes(app: App, versions: ProjectVersions): Handlers<ProjectOperation> {
  return {
    'projects.list': ({ team }) => listProjects(app, team),
    'projects.get': ({ team, params }) => getProject(app, versions, team, params.projectId),
    'projects.create': ({ team, actor, body }) => createProject(app, versions, { team, actor }, body),
    'projects.update': async ({ team, actor, params, body }) =>
      void (await changeProject(app, { team, actor }, params.projectId, body)),
    'projects.delete': async ({ team, actor, params, query, audited }) => {
      const containers = query.containers === 'true'
      const removed = await removeProject(app, { team, actor }, params.projectId, { containers })
      if (containers) audited({ removedContainers: removed.map(toRunningContainers) })
      return undefined
    },
    'projects.running': ({ team, params }) => listRunningOfProject(app, team, params.projectId),
    'projects.convert': async ({ team, actor, params }) =>
      void (await convertProject(app, { team, actor }, params.projectId)),
  }
}
