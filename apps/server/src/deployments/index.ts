export { deploymentChannels } from './channel.ts'
export { type LastReleaseRow, lastReleaseColumns, toLastRelease } from './last-release.ts'
export { listTargets, onlyEmpty, releaseTarget } from './prepared-target.ts'
export {
  listRunning,
  type RunningTarget,
  removeContainers,
  toRemovedText,
  toRunningContainers,
} from './remove-containers.ts'
export { deploymentRoutes } from './routes.ts'
