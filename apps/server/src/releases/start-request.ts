import type { Caller } from '../access/index.ts'
import type { Startable } from './confirmation-store.ts'
import type { LoadedInstance } from './deployment-store.ts'

export type Planned = Pick<LoadedInstance, 'configId'> & Startable
/**
 * `layers`: as they are now; `release`: the configuration of an earlier release, independent of later changes of the
 * layers.
 */
export type StartRequest = Caller & {
  ignoreProtected: boolean
  from: 'layers' | 'release'
  /** The address of Crux in browsers; no deployment may route this host name. */
  cruxUrl: string
}
