// What a supervisor needs, without Drizzle: it would keep a hundred megabytes for tables that it never reads.
export type { Ownership } from './embedded/ownership.ts'
export { claimOwnership, OwnedError } from './embedded/ownership.ts'
export { endingWithParent, isAlive, startTimeOf, waitUntil } from './embedded/processes.ts'
export type { Embedded } from './embedded/supervisor.ts'
export { removeEmbedded, startEmbedded } from './embedded/supervisor.ts'
