export { findProject, type ProjectVersions, projectNotFound, toProject } from './actions.ts'
export { projectRoutes } from './routes.ts'
export { insertProject, lockProject } from './store.ts'
