// A separate entry without Drizzle for supervisors, which would otherwise use a hundred megabytes for tables that they never read.
export type { Ownership } from './embedded/ownership.ts'
export { claimOwnership, OwnedError } from './embedded/ownership.ts'
export { endingWithParent, getStartTime, isAlive, waitUntil } from './embedded/processes.ts'
export type { Embedded } from './embedded/supervisor.ts'
export { freePort, removeEmbedded, startEmbedded } from './embedded/supervisor.ts'
