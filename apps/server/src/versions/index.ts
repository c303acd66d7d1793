export { assertAllowed, findVersion, projectVersions, type VersionPath } from './actions.ts'
export { versionRoutes } from './routes.ts'
