import type { Logger } from '@crux/service-kit'
import type { Driver } from '../drivers/driver.ts'
import type { BindSources } from '../files/bind-sources.ts'
import type { DataDirectory } from '../files/data-directory.ts'
import type { Gate } from '../gate/gate.ts'
import type { ImageClaims } from '../images/claims.ts'
import type { FetchedImages } from '../images/fetched.ts'
import type { RegistryDigests } from '../images/registry-digests.ts'
import type { NodeEnvironment } from '../plan/container-spec.ts'
import type { LinkClock } from './control.ts'
import type { Run } from './run.ts'
import type { TeamNetworks } from './team-networks.ts'

export interface ReleaseContext {
  driver: Driver
  gate: Gate
  teamNetworks: TeamNetworks
  nodeEnvironment: NodeEnvironment
  data: DataDirectory
  sources: BindSources
  decrypt: (message: string) => Promise<string>
  clock: LinkClock
  images: { claims: ImageClaims; fetched: FetchedImages; digests: RegistryDigests }
  log: Logger
  createLock: Run['createLock']
  /** Aborts with an AbortedError when this process ends: work that cannot be cancelled is then left to the next process too. */
  ending: AbortSignal
  /** Called when the new containers have taken over: the rest is the removal of the previous ones, which mostly waits. */
  tookOver: () => void
}
