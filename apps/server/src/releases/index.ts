export { type DangerousInstance, hashSubjects, judgeDangers, readSubjects, type Startable } from './confirmations.ts'
export {
  type CurrentContainer,
  currentContainers,
  type MeasuredPause,
  measuredPauses,
} from './current-container-store.ts'
export { deploymentNotFound, type LoadedDeployment, loadDeployment } from './deployment-store.ts'
export { deleteEventsOfReleases } from './event-retention-store.ts'
export { readEvents, toEvent } from './event-store.ts'
export { bundlesChanged, deploymentsChanged } from './events.ts'
export { findRelease, findReleaseInstances, listReleases, refuseUnsuccessful, toPlanned } from './list.ts'
export { findAttempts, getLog, latestEvents } from './log.ts'
export { openLogFile } from './log-file.ts'
export { listNeighbours } from './neighbour-store.ts'
export { checkFree, checkMayProtect, checkProtect } from './protection.ts'
export { cancelDeployment, startDeployment, startRelease } from './start.ts'
export { checkStatus, chooseInstances, startProblems } from './start-checks.ts'
export type { Owner } from './store.ts'
export { waitForRelease } from './wait.ts'
export { createDeploymentWork } from './work.ts'
