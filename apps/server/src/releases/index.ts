export type { Startable } from './confirmation-store.ts'
export { type DangerousInstance, hashSubjects, judgeDangers, readSubjects, type Subjects } from './confirmations.ts'
export {
  type CurrentContainer,
  currentContainers,
  type MeasuredDowntime,
  measuredPauses,
} from './current-container-store.ts'
export { type LoadedDeployment, loadDeployment } from './deployment-store.ts'
export { followedTagOfImage, pendingDigest, releasedDigests } from './digest-store.ts'
export { createDriftCheck } from './drift.ts'
export { deleteEventsOfReleases } from './event-retention-store.ts'
export { readEvents, toEvent } from './event-store.ts'
export { bundlesChanged, deploymentsChanged } from './events.ts'
export { getFreezeEnd } from './freezes.ts'
export { imageReference, type RegistryLocation, toReleaseImage } from './image-reference.ts'
export { listReleases, refuseUnsuccessful, toPlanned } from './list.ts'
export { getLog, latestEvents } from './log.ts'
export { openLogFile } from './log-file.ts'
export { listNeighbours, type Neighbour } from './neighbour-store.ts'
export { checkFree, checkMayProtect, checkProtect } from './protection.ts'
export {
  type AutomaticChoice,
  cancelDeployment,
  createAndStart,
  startAutomatically,
  startDeployment,
  startRelease,
} from './start.ts'
export { checkStatus, chooseInstances, startProblems } from './start-checks.ts'
export {
  deploymentNotFound,
  findAttempts,
  findRelease,
  findReleaseAhead,
  type Owner,
  type ReleaseInstanceRow,
  releaseInstances,
} from './store.ts'
export { findOtherProtected } from './target-store.ts'
export { waitForRelease } from './wait.ts'
export { createDeploymentWork } from './work.ts'
