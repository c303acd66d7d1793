export { findProject, type ProjectVersions, projectNotFound } from './actions.ts'
export { projectRoutes } from './routes.ts'
export { lockProject } from './store.ts'
