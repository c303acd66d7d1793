export {
  addVersion,
  assertAllowed,
  findVersion,
  lockVersionedProject,
  projectVersions,
  recordCreatedVersion,
  type VersionPath,
} from './actions.ts'
export { copyDeployments } from './copy-store.ts'
export { versionRoutes } from './routes.ts'
export { toVersion } from './store.ts'
