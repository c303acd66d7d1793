import type { Actor, TeamContext } from '../http/handlers.ts'
import type { Startable } from './confirmations.ts'
import type { LoadedInstance } from './load.ts'

export type Planned = Pick<LoadedInstance, 'configId'> & Startable
/** `layers`: as they are now; `release`: what an earlier release had, whatever has become of the layers since. */
export type StartRequest = {
  team: TeamContext
  actor: Actor
  ignoreProtected: boolean
  from: 'layers' | 'release'
  /** Where browsers reach Crux: that host name is nobody's to route. */
  cruxUrl: string
}
