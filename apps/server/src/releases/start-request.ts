import type { Actor, TeamContext } from '../access/index.ts'
import type { Startable } from './confirmation-store.ts'
import type { LoadedInstance } from './deployment-store.ts'

/** The author of a start: the caller of a request, or a user for whom the server acts. */
export type Starter = { team: TeamContext; actor: Pick<Actor, 'id' | 'name' | 'sessionId' | 'grant'> }

export type Planned = Pick<LoadedInstance, 'configId'> & Startable
/**
 * `layers`: as they are now; `release`: the configuration of an earlier release, independent of later changes of the
 * layers.
 */
export type StartRequest = Starter & {
  ignoreProtected: boolean
  /** Why an admin starts it during a freeze window. */
  overrideFreeze?: string | null | undefined
  from: 'layers' | 'release'
  /** The address of Crux in browsers; no deployment may route this host name. */
  cruxUrl: string
}
